package dev.writ.bench;

import dev.writ.sandbox.engine.Engines;
import dev.writ.tools.mcp.McpDriver;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A call of an MCP server behind Writ, against the same server bare. No rows unless asked for, and
 * none where there is no Python or no sandbox.
 */
final class McpSteps implements AutoCloseable {
  private static final int CALLERS = 8;
  private static final int EACH_MAX = 2_000;

  /** One call for so many effects that are done before anything is measured. */
  private static final int WARM_UP = 20;

  private static final BenchTarget IN_PROCESS = new BenchTarget.TimeAtMost(100);
  private static final BenchTarget OVER_HTTP = new BenchTarget.TimeAtMost(200);
  private static final BenchTarget FIRST = new BenchTarget.TimeAtMost(10);
  private static final String DONE = "\"isError\":false";
  private static final String BARE = "the server bare";

  private final Stopwatch watch;
  private final Optional<McpLab> lab;
  private final List<HttpCaller> clients = new ArrayList<>();
  private final List<BareServer> bare = new ArrayList<>();

  private McpSteps(Stopwatch watch, Optional<McpLab> lab) {
    this.watch = watch;
    this.lab = lab;
  }

  /**
   * @param asked whether these steps are wanted; there are none if not
   */
  static McpSteps where(boolean asked, Stopwatch watch, Path home) throws IOException {
    return new McpSteps(
        watch, asked && possible() ? Optional.of(new McpLab(home)) : Optional.empty());
  }

  static boolean possible() {
    return Files.isExecutable(Path.of(McpLab.PYTHON))
        && Engines.detect().stream()
            .anyMatch(report -> report.available() && report.shortfalls().isEmpty());
  }

  List<Step> steps() {
    return lab.map(this::steps).orElse(List.of());
  }

  private List<Step> steps(McpLab of) {
    byte[] call = McpLab.request(1, "tools/call", McpLab.CALL).getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < CALLERS; i++) {
      HttpCaller client = of.client();
      client.post(call, DONE);
      clients.add(client);
      bare.add(new BareServer(of.script()));
    }
    // Hundreds of calls until the surface is compiled: cold code takes several times as long.
    int warmUp = watch.plan().effectsBefore() / WARM_UP / CALLERS;
    if (warmUp > 0) {
      Stopwatch.concurrently(
          CALLERS, warmUp, n -> repeat(warmUp, () -> clients.get(n).post(call, DONE)));
    }
    Step.Slice alone = new Crowd(1, n -> bare.get(n)::call);
    return List.of(
        new Step(
            "mcp call, in the process",
            BARE,
            IN_PROCESS,
            watch.repeat(() -> of.submit(of.request("in-process"))),
            alone),
        new Step(
            "mcp call over HTTP, 1 caller",
            BARE,
            OVER_HTTP,
            new Crowd(1, n -> () -> clients.get(n).post(call, DONE)),
            alone),
        new Step(
            "mcp call over HTTP, " + CALLERS + " callers",
            "as many servers bare",
            OVER_HTTP,
            new Crowd(CALLERS, n -> () -> clients.get(n).post(call, DONE)),
            new Crowd(CALLERS, n -> bare.get(n)::call)),
        new Step(
            "mcp, first answer after a start",
            BARE,
            FIRST,
            started(of::first, McpDriver::close),
            started(
                () -> {
                  BareServer server = new BareServer(of.script());
                  server.call();
                  return server;
                },
                BareServer::close)));
  }

  private static void repeat(int times, Runnable call) {
    for (int i = 0; i < times; i++) {
      call.run();
    }
  }

  private interface Caller {
    Runnable of(int number);
  }

  private interface Ending<T> {
    void end(T started);
  }

  /** One start; what was started is ended afterwards, which is not measured. */
  private static <T> Step.Slice started(Supplier<T> start, Ending<T> ending) {
    return () -> {
      Cost.Start from = Cost.Start.now();
      T started = start.get();
      Cost cost = from.each(1);
      ending.end(started);
      return cost;
    };
  }

  /** Callers with a server each, as many calls as fit into a slice. */
  private final class Crowd implements Step.Slice {
    private final int callers;
    private final Caller caller;
    private Cost last = new Cost(1_000_000, 0);

    Crowd(int callers, Caller caller) {
      this.callers = callers;
      this.caller = caller;
    }

    @Override
    public Cost cost() {
      int each = watch.each(last, callers, EACH_MAX);
      last = Stopwatch.concurrently(callers, each, n -> repeat(each, caller.of(n)));
      return last;
    }
  }

  @Override
  public void close() {
    clients.forEach(HttpCaller::close);
    bare.forEach(BareServer::close);
    lab.ifPresent(McpLab::close);
  }
}
