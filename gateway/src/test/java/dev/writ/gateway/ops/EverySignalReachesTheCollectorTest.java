package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.stage.Stage;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.TraceContext;
import dev.writ.gateway.ops.TestCollector.Got;
import dev.writ.gateway.ops.TestCollector.GotLine;
import dev.writ.gateway.schedule.LaneObserver;
import dev.writ.guardian.document.Determinism;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces, metrics and log lines by OTLP, and what becomes of those that nobody takes. */
class EverySignalReachesTheCollectorTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  @TempDir Path dir;

  @Test
  void linesBelongToTheSpanOfTheirCallAndMetricsHaveTheNamesOfAScrape() throws Exception {
    try (TestCollector collector = new TestCollector()) {
      String config =
          "writ_gateway: 1\nlisten: { port: 0 }\ntelemetry: { otlp: \"%s\", metrics: \"%s\", logs: \"%s\" }\ntokens:\n"
                  .formatted(
                      collector.url("traces"), collector.url("metrics"), collector.url("logs"))
              + WholeGateway.token("alices", "alice", "");
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

  /** What the engine surface does after a 202, on a thread of its own. */
  @Test
  void workInTheBackgroundIsATreeOfSpansWithinItsCall() throws Exception {
    TraceContext call =
        new TraceContext(TRACE, "1".repeat(16), "01", Optional.empty(), Optional.empty());
    try (TestCollector collector = new TestCollector()) {
      Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
      GatewayConfig.Telemetry config =
          new GatewayConfig.Telemetry(
              collector.url(), 100, Optional.empty(), Optional.empty(), Duration.ofSeconds(60));
      Digest request = Digest.sha256(new byte[] {1});
      try (Telemetry telemetry =
          new Telemetry(config, "test", InstantSource.system(), metrics, _ -> {})) {
        Watch watch = new Watch(metrics, telemetry::inBackground);
        watch.callBegins(call);
        Thread.ofVirtual()
            .start(
                watch.inBackground(() -> {
                  watch.waited("small", LaneObserver.End.TURN, 1_000);
                  watch.begins(Stage.RUN);
                  watch.begins(request, TestTools.manifest("calc", Determinism.PURE));
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
          .filteredOn(span -> span.name().equals("execute_tool calc"))
          .allMatch(span -> span.span().equals(request.hex().substring(0, 16)))
          .allMatch(span -> span.attributes().get("error.type").equals("driver-failed"));
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
