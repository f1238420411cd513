package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.stage.Stage;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.config.TelemetrySettings;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.ops.TestCollector.Got;
import dev.writ.gateway.ops.TestCollector.GotLine;
import dev.writ.gateway.schedule.LaneObserver;
import dev.writ.guardian.document.Determinism;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces, metrics and log lines by OTLP, and what becomes of those that nobody takes. */
class EverySignalReachesTheCollectorTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  @TempDir Path dir;

  /** All three signals go to the collector. */
  private static String config(TestCollector collector) {
    return "writ_gateway: 1\nlisten: { port: 0 }\ntelemetry: { otlp: \"%s\", metrics: \"%s\", logs: \"%s\" }\ntokens:\n"
            .formatted(collector.url("traces"), collector.url("metrics"), collector.url("logs"))
        + WholeGateway.token("alices", "alice", "");
  }

  @Test
  void linesBelongToTheSpanOfTheirCallAndMetricsHaveTheNamesOfAScrape() throws Exception {
    try (TestCollector collector = new TestCollector()) {
      String config = config(collector);
      String told;
      try (WholeGateway server = new WholeGateway(TestGateway.newHome(dir), config, dir)) {
        told =
            server
                .send(
                    server
                        .as("alices", "/test/r/calc")
                        .header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"private\":\"a-payload\"}")))
                .headers()
                .firstValue("traceresponse")
                .orElseThrow();
      }
      Got call =
          collector.spans().stream()
              .filter(span -> span.name().equals("POST /test/{run}/{tool}"))
              .findFirst()
              .orElseThrow();
      assertThat(told).isEqualTo("00-" + TRACE + "-" + call.span() + "-01");
      GotLine line =
          collector.lines().stream()
              .filter(l -> l.body().equals("execution"))
              .findFirst()
              .orElseThrow();
      assertThat(line.trace()).isEqualTo(TRACE);
      assertThat(line.span()).isEqualTo(call.span());
      assertThat(line.attributes())
          .containsEntry("outcome", "success")
          .containsEntry("toolId", "calc")
          .containsEntry("correlationId", "r");
      assertThat(collector.lines().toString()).doesNotContain("a-payload");
      assertThat(collector.metrics())
          .containsEntry("writ_executions", 7) // a sum
          .containsEntry("writ_execution_time_seconds", 9) // a histogram
          .containsEntry("writ_http_at_work", 5); // a gauge
    }
  }

  /** A message that states its own trace, as those of MCP do, over a connection of another one. */
  @Test
  void aMessageOfAnotherTraceIsASpanInItThatIsLinkedToItsCall() throws Exception {
    TraceContext call =
        new TraceContext("c".repeat(32), "1".repeat(16), "00", Optional.empty(), Optional.empty());
    TraceContext message =
        TraceContext.of(
                "00-" + TRACE + "-00f067aa0ba902b7-01", "vendor=a,bad value", () -> "2".repeat(16))
            .orElseThrow();
    try (TestCollector collector = new TestCollector()) {
      Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
      TelemetrySettings config =
          new TelemetrySettings(
              collector.url(), 100, Optional.empty(), Optional.empty(), Duration.ofSeconds(60));
      try (Telemetry telemetry =
          new Telemetry(config, "test", InstantSource.system(), metrics, _ -> {})) {
        Watch watch = new Watch(metrics, telemetry::inBackground, _ -> {});
        watch.callBegins(call);
        watch.inSpan(
            "tools/call",
            new TreeMap<>(Map.of("mcp.method.name", "tools/call")),
            Optional.of(message),
            () -> {
              assertThat(watch.trace()).as("of the log, too").contains(message);
              watch.begins(Stage.RUN);
              watch.ends(Stage.RUN, Optional.empty());
              return "done";
            });
        assertThat(watch.trace()).contains(call);
        watch.begins(Stage.ADMISSION);
        watch.ends(Stage.ADMISSION, Optional.empty());
        telemetry.ended(finished(call), watch.callEnds(finished(call)).spans());
      }
      assertThat(collector.spans())
          .as("the call's own trace is not sampled")
          .extracting(Got::name)
          .containsExactly("tools/call", "run");
      Got span = collector.spans().getFirst();
      assertThat(span.trace()).isEqualTo(TRACE);
      assertThat(span.parent()).isEqualTo("00f067aa0ba902b7");
      assertThat(span.span()).isEqualTo(message.spanId());
      assertThat(span.kind()).as("server").isEqualTo(2);
      assertThat(span.attributes()).containsEntry("mcp.method.name", "tools/call");
      assertThat(collector.spans().getLast().parent()).isEqualTo(span.span());
      assertThat(new String(collector.bodies.getFirst(), StandardCharsets.ISO_8859_1))
          .contains("vendor=a")
          .doesNotContain("bad value");
    }
  }

  /** A busy machine may make the span of a call long after its answer. */
  @Test
  void aCallsSpanHoldsWhatHappenedInItHoweverLateItIsMade() throws Exception {
    TraceContext trace =
        new TraceContext("c".repeat(32), "1".repeat(16), "01", Optional.empty(), Optional.empty());
    try (TestCollector collector = new TestCollector()) {
      Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
      TelemetrySettings config =
          new TelemetrySettings(
              collector.url(), 100, Optional.empty(), Optional.empty(), Duration.ofSeconds(60));
      long began = System.nanoTime() - Duration.ofSeconds(10).toNanos();
      try (Telemetry telemetry =
          new Telemetry(config, "test", InstantSource.system(), metrics, _ -> {})) {
        SpanTree tree = new SpanTree();
        tree.open("run", began, Optional.empty());
        telemetry.ended(finished(trace, began), tree.nodes());
      }
      Got call =
          collector.spans().stream()
              .filter(span -> span.name().equals("POST /mcp"))
              .findFirst()
              .orElseThrow();
      Got run =
          collector.spans().stream()
              .filter(span -> span.name().equals("run"))
              .findFirst()
              .orElseThrow();
      assertThat(run.start()).isEqualTo(call.start());
      assertThat(run.end()).isBetween(run.start(), call.end());
    }
  }

  private static Observer.Finished finished(TraceContext trace) {
    return finished(trace, System.nanoTime());
  }

  private static Observer.Finished finished(TraceContext trace, long began) {
    return new Observer.Finished(
        "mcp",
        "POST",
        "/mcp",
        200,
        Optional.empty(),
        began,
        began + Duration.ofMillis(1).toNanos(),
        0,
        "127.0.0.1",
        Optional.empty(),
        trace,
        Optional.empty(),
        Optional.empty(),
        List.of());
  }

  /**
   * One word planted wherever a caller or a tool can put one, ids apart; searched in all signals.
   */
  @Test
  void aSecretIsInNoMetricNoLineAndNoSpan() throws Exception {
    String secret = "hunter2-is-the-password";
    try (TestCollector collector = new TestCollector()) {
      String config = config(collector);
      String scraped;
      String logged;
      try (WholeGateway server = new WholeGateway(TestGateway.newHome(dir), config, dir)) {
        TestDriver driver = server.home.driver;
        String json = "{\"ok\":true,\"secret\":\"" + secret + "\"}";
        String body = "{\"private\":\"" + secret + "\"}";
        driver.does("calc", Behaviours.gives(json, Behaviours.JSON));
        server.post("alices", "/test/r/calc", body);
        driver.does("calc", Behaviours.throwing(new IllegalStateException(secret)));
        server.post("alices", "/test/r/calc", body);
        driver.refusesToPrepare(new IllegalStateException(secret));
        server.post("alices", "/test/r/calc", body);
        driver.refusesToPrepare(null);
        server.post("alices", "/test/r/no-such-tool", body);
        server.send(
            server
                .as("alices", "/" + secret + "?" + secret + "=" + secret)
                .header("traceparent", secret)
                .header("Idempotency-Key", secret)
                .method(secret.toUpperCase(Locale.ROOT), HttpRequest.BodyPublishers.noBody()));
        server.send(server.to("/v1/runs").header("Authorization", "Bearer " + secret).GET());
        server.post("/v1/effects", secret.getBytes(StandardCharsets.UTF_8));
        scraped = server.get("alices", "/metrics").body();
        server.gateway.close(); // lines are written after their answers
        logged = server.logged().toString();
      }
      assertThat(scraped).contains("writ_executions_total").doesNotContainIgnoringCase(secret);
      assertThat(logged).contains("EXE-308").doesNotContainIgnoringCase("hunter2");
      assertThat(collector.spans()).isNotEmpty();
      assertThat(collector.lines()).isNotEmpty();
      for (List<byte[]> signal : List.of(collector.bodies, collector.logs, collector.metrics)) {
        assertThat(signal).isNotEmpty();
        for (byte[] sent : signal) {
          assertThat(new String(sent, StandardCharsets.ISO_8859_1))
              .doesNotContainIgnoringCase("hunter2");
        }
      }
    }
  }

  /** What the engine surface does after a 202, on a thread of its own. */
  @Test
  void workInTheBackgroundIsATreeOfSpansWithinItsCall() throws Exception {
    TraceContext call =
        new TraceContext(TRACE, "1".repeat(16), "01", Optional.empty(), Optional.empty());
    try (TestCollector collector = new TestCollector()) {
      Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
      TelemetrySettings config =
          new TelemetrySettings(
              collector.url(), 100, Optional.empty(), Optional.empty(), Duration.ofSeconds(60));
      Digest request = Digest.sha256(new byte[] {1});
      try (Telemetry telemetry =
          new Telemetry(config, "test", InstantSource.system(), metrics, _ -> {})) {
        Watch watch = new Watch(metrics, telemetry::inBackground, _ -> {});
        watch.callBegins(call);
        Thread.ofVirtual()
            .start(
                watch.inBackground(() -> {
                  watch.waited("small", LaneObserver.End.TURN, 1_000);
                  watch.begins(Stage.RUN);
                  watch.begins(request, TestTools.manifest("calc", Determinism.PURE));
                  watch.in("warm-1"); // which was dead, and its call began anew
                  watch.executing();
                  watch.executed();
                  watch.in("call-1");
                  watch.executing();
                  watch.executed();
                  watch.destroyed();
                  watch.ends(Optional.empty());
                  watch.ends(Stage.RUN, Optional.empty());
                }))
            .join();
      }
      TreeMap<String, String> parents = new TreeMap<>();
      for (Got span : collector.spans()) {
        assertThat(span.trace()).isEqualTo(TRACE);
        parents.put(
            span.name(),
            collector.spans().stream()
                .filter(other -> other.span().equals(span.parent()))
                .map(Got::name)
                .findFirst()
                .orElse(span.parent()));
      }
      assertThat(parents)
          .containsExactly(
              Map.entry("background", call.spanId()),
              Map.entry("execute_tool calc", "run"),
              Map.entry("queue", "background"),
              Map.entry("run", "background"),
              Map.entry("sandbox", "execute_tool calc"),
              Map.entry("worker", "sandbox"));
      assertThat(collector.spans())
          .filteredOn(span -> span.name().equals("sandbox"))
          .hasSize(2)
          .allMatch(span -> span.parent().equals(request.hex().substring(0, 16)));
      assertThat(collector.spans())
          .filteredOn(span -> span.name().equals("execute_tool calc"))
          .allMatch(span -> span.span().equals(request.hex().substring(0, 16)))
          .allMatch(span -> span.attributes().get("error.type").equals("driver-failed"));
    }
  }

  @Test
  void aFailureInTheMiddleEndsTheSendingOfNoSignal() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    ExportQueue<Integer> queue =
        new ExportQueue<>(
            "test",
            _ -> {
              boolean fails = first.getCount() > 0;
              first.countDown();
              if (fails) {
                throw new IllegalStateException();
              }
              return CompletableResultCode.ofSuccess();
            },
            Duration.ofSeconds(5));
    try (queue) {
      queue.add(1);
      first.await();
      queue.add(2);
    }
    assertThat(queue.dropped()).isEqualTo(1);
    assertThat(queue.sent()).isEqualTo(1);

    CountDownLatch read = new CountDownLatch(1);
    AtomicBoolean readable = new AtomicBoolean();
    Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
    metrics.counter(
        "writ.test",
        "Of a ledger that is closed, for example",
        () -> {
          read.countDown();
          if (!readable.get()) {
            throw new IllegalStateException();
          }
          return 1;
        });
    try (TestCollector collector = new TestCollector()) {
      TelemetrySettings config =
          new TelemetrySettings(
              collector.url(),
              100,
              Optional.of(collector.url("metrics")),
              Optional.empty(),
              Duration.ofMillis(1));
      try (Telemetry _ = new Telemetry(config, "test", InstantSource.system(), metrics, _ -> {})) {
        read.await();
        readable.set(true);
      }
      assertThat(collector.metrics()).containsKey("writ_test");
    }
  }

  @Test
  void whatACollectorDoesNotTakeIsDroppedAndCountedAndNobodyWaits() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    try (ExportQueue<Integer> queue =
        new ExportQueue<>(
            "test",
            _ -> {
              asked.countDown();
              return new CompletableResultCode(); // never an answer
            },
            Duration.ofMillis(100))) {
      for (int i = 0; i < 10_000; i++) {
        queue.add(i);
      }
      asked.await();
      assertThat(queue.sent()).isZero();
      assertThat(queue.dropped()).isGreaterThan(10_000 - 4_096 - 1_024);
    }
  }
}
