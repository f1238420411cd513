package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.gateway.Gateway;
import dev.writ.tools.wasm.GuestPool;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an effect of a small script over HTTP takes of the processors: in one process with the
 * clients, the compiler and the collector, of an installation that has been running, with the
 * signature engine that {@code writ serve} takes. QuickJS is much code, so that this row is
 * compiled through for a minute first.
 */
final class JsSteps implements AutoCloseable {
  private static final int CALLERS = 64;
  private static final int EACH_MAX = 500;

  /** 1.2 ms: what such an effect is to take at most. */
  private static final double MOST_NS = 1_200_000;

  private final Stopwatch watch;
  private final Optional<Server> server;
  private Cost last = new Cost(1_000_000, 0);

  private record Server(GuestPool guests, Lab lab, Gateway gateway) {}

  private JsSteps(Stopwatch watch, Optional<Server> server) {
    this.watch = watch;
    this.server = server;
  }

  /**
   * @param asked whether this step is wanted; there is none if not
   * @param parent of the installation's directory
   */
  static JsSteps where(boolean asked, Stopwatch watch, Path parent) {
    if (!asked) {
      return new JsSteps(watch, Optional.empty());
    }
    GuestPool guests = GuestPool.ofThisHost();
    Lab lab = new Lab(parent.resolve("js"), LabTool.script(guests));
    lab.submit(lab.requests("first", 1).getFirst()); // fails unless it succeeds
    Gateway gateway = HttpSteps.gateway(lab, List.of());
    JsSteps steps = new JsSteps(watch, Optional.of(new Server(guests, lab, gateway)));
    steps.warmUp();
    return steps;
  }

  private void warmUp() {
    int before = watch.plan().effectsBefore();
    for (int each = 8; before > 0; before -= CALLERS * each) {
      int some = each;
      BenchEngines.with(SignatureEngines.fastest(), () -> run(some)).cost();
    }
  }

  List<Step> steps() {
    return server.isEmpty()
        ? List.of()
        : List.of(
            new Step(
                "js effect over HTTP, processor, 64 callers",
                "1.2 ms",
                new BenchTarget.TimeAtMost(1),
                this::cost,
                () -> new Cost(MOST_NS, MOST_NS)));
  }

  private Cost cost() {
    return BenchEngines.with(SignatureEngines.fastest(), this::measured).cost();
  }

  private Cost measured() {
    Cost cost = run(watch.each(last, CALLERS, EACH_MAX));
    return new Cost(cost.cpuNs(), cost.cpuNs());
  }

  private Cost run(int each) {
    Server of = server.orElseThrow();
    List<List<byte[]>> work = new ArrayList<>();
    List<HttpCaller> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      work.add(of.lab().requests("js-" + i, each));
      callers.add(new HttpCaller(of.gateway().port(), "/v1/effects"));
    }
    last =
        Stopwatch.concurrently(
            CALLERS,
            each,
            n -> work.get(n).forEach(body -> callers.get(n).post(body, "\"receipt\"")));
    callers.forEach(HttpCaller::close);
    return last;
  }

  @Override
  public void close() {
    server.ifPresent(of -> {
      of.gateway().close();
      of.lab().close();
      of.guests().close();
    });
  }
}
