package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.v1.RunBundle;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The same no-op effect through a whole gateway, against the kernel alone and against bare HTTP.
 */
final class HttpSteps implements AutoCloseable {
  private static final int CALLERS = 64;
  private static final int EACH_MAX = 2_000;
  private static final int BODY_BYTES = 1024;

  /** Of the effects before, so many go over HTTP as well: one in this number. */
  private static final int WARM_UP = 4;

  /** That of a server. */
  private static final SignatureEngine ENGINE = SignatureEngines.fastest();

  private final Stopwatch watch;
  private final Lab lab;
  private final Gateway gateway;
  private final EchoServer echo = new EchoServer();

  HttpSteps(Stopwatch watch, Lab lab) {
    this.watch = watch;
    this.lab = lab;
    this.gateway = gateway(lab, List.of(new Echoing()));
    warmUp();
  }

  /** As the kernel beside it, the gateway is measured once it has been running for a while. */
  private void warmUp() {
    int each = watch.plan().effectsBefore() / WARM_UP / CALLERS;
    List<HttpCaller> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      callers.add(caller("/v1/effects"));
    }
    Stopwatch.concurrently(
        CALLERS, each, n -> lab.requests("http-before-" + n, each).forEach(callers.get(n)::post));
    callers.forEach(HttpCaller::close);
  }

  /** A whole gateway of an installation, on a free port. */
  static Gateway gateway(Lab lab, List<Surface> surfaces) {
    return Gateway.start(
        GatewayConfig.minimal(0),
        new GatewayInstallation(
            lab.kernel(),
            new Running(),
            lab.directory(),
            new TreeMap<>(),
            new RunBundle(Lab.packages()),
            InstantSource.system(),
            new SecureRandom(),
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)),
        _ -> surfaces);
  }

  /** What the gateway itself costs: a route that gives back what it gets. */
  private static final class Echoing implements Surface {
    @Override
    public String name() {
      return "echo";
    }

    @Override
    public List<Route> routes() {
      return List.of(
          Route.post(
              "/echo",
              Route.Access.SURFACE,
              1 << 20,
              call -> HttpAnswer.of(200, "application/octet-stream", call.body())));
    }
  }

  List<Step> steps() {
    List<byte[]> body = List.of(new byte[BODY_BYTES]);
    Crowd overHttp = new Crowd(() -> caller("/v1/effects"), lab::requests);
    return List.of(
        new Step(
            "no-op effect over HTTP, 64 callers",
            "the kernel in this process",
            new BenchTarget.RateAtLeast(0.85),
            BenchEngines.with(ENGINE, overHttp),
            BenchEngines.with(ENGINE, new InProcess())),
        new Step(
            "no-op effect over HTTP, p99, 1 caller",
            "the kernel in this process, p99",
            new BenchTarget.TimeAtMost(1.5),
            BenchEngines.with(ENGINE, new Slowest(true)),
            BenchEngines.with(ENGINE, new Slowest(false))),
        new Step(
            "echo through the gateway, 64 callers",
            "a bare Vert.x echo",
            new BenchTarget.RateAtLeast(0.4),
            new Crowd(() -> caller("/echo"), (_, n) -> repeated(body, n)),
            new Crowd(() -> new HttpCaller(echo.port(), "/"), (_, n) -> repeated(body, n))),
        new Step(
            "no-op effect over HTTP against echo",
            "a bare Vert.x echo of the request",
            new BenchTarget.RateAtLeast(0.05),
            BenchEngines.with(ENGINE, overHttp),
            new Crowd(
                () -> new HttpCaller(echo.port(), "/"),
                (_, n) -> repeated(lab.requests("echoed", 1), n))));
  }

  private HttpCaller caller(String path) {
    return new HttpCaller(gateway.port(), path);
  }

  private static List<byte[]> repeated(List<byte[]> one, int count) {
    List<byte[]> bodies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      bodies.add(one.getFirst());
    }
    return bodies;
  }

  /** Makes the bodies in advance, so that this is not measured. */
  private interface Bodies {
    List<byte[]> of(String run, int count);
  }

  private interface Opens {
    HttpCaller open();
  }

  /** Callers with a connection each, as many calls as fit into a slice. */
  private final class Crowd implements Step.Slice {
    private final Opens opens;
    private final Bodies bodies;
    private Cost last = new Cost(1_000_000, 0);

    Crowd(Opens opens, Bodies bodies) {
      this.opens = opens;
      this.bodies = bodies;
    }

    @Override
    public Cost cost() {
      int each = watch.each(last, CALLERS, EACH_MAX);
      List<List<byte[]>> work = new ArrayList<>();
      List<HttpCaller> callers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        work.add(bodies.of("http-" + i, each));
        callers.add(opens.open());
      }
      last = Stopwatch.concurrently(CALLERS, each, n -> work.get(n).forEach(callers.get(n)::post));
      callers.forEach(HttpCaller::close);
      return last;
    }
  }

  private final class InProcess implements Step.Slice {
    private Cost last = new Cost(1_000_000, 0);

    @Override
    public Cost cost() {
      int each = watch.each(last, CALLERS, EACH_MAX);
      List<List<byte[]>> work = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        work.add(lab.requests("in-process-" + i, each));
      }
      last = Stopwatch.concurrently(CALLERS, each, n -> work.get(n).forEach(lab::submit));
      return last;
    }
  }

  /** The 99th of a hundred latencies, one caller. */
  private final class Slowest implements Step.Slice {
    private final boolean http;
    private Cost last = new Cost(1_000_000, 0);

    Slowest(boolean http) {
      this.http = http;
    }

    @Override
    public Cost cost() {
      int count = Math.max(100, watch.each(last, 1, EACH_MAX));
      List<byte[]> requests = lab.requests(http ? "p99-http" : "p99", count);
      if (!http) {
        return measured(requests, lab::submit);
      }
      try (HttpCaller caller = caller("/v1/effects")) {
        return measured(requests, caller::post);
      }
    }

    private Cost measured(List<byte[]> requests, Function<byte[], ?> call) {
      long[] nanos = new long[requests.size()];
      Cost.Start start = Cost.Start.now();
      for (int i = 0; i < nanos.length; i++) {
        long begin = System.nanoTime();
        call.apply(requests.get(i));
        nanos[i] = System.nanoTime() - begin;
      }
      last = start.each(nanos.length);
      Arrays.sort(nanos);
      return new Cost(nanos[nanos.length * 99 / 100], last.cpuNs());
    }
  }

  @Override
  public void close() {
    gateway.close();
    echo.close();
  }
}
