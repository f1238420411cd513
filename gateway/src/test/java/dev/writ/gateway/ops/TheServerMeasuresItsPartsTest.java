package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Metrics of each part, which no caller can make grow; and readiness that asks what it is told to.
 */
class TheServerMeasuresItsPartsTest {
  private static final String CONFIG =
      "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n"
          + WholeGateway.token("alices", "alice", "")
          + WholeGateway.token("deputys", "deputy", "");

  @TempDir Path dir;
  private final AtomicBoolean sandbox = new AtomicBoolean(true);
  private final AtomicInteger asked = new AtomicInteger();
  private WholeGateway server;

  @BeforeEach
  void start() {
    Probe probe =
        new Probe(
            "sandbox",
            () -> {
              asked.incrementAndGet();
              if (!sandbox.get()) {
                throw new IllegalStateException("no engine");
              }
              return Probe.Result.OK;
            });
    server = new WholeGateway(TestGateway.newHome(dir), CONFIG, dir, List.of(probe));
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private String metrics() throws Exception {
    return server.send(server.to("/metrics").GET()).body();
  }

  private static double value(String metrics, String series) {
    return metrics
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .findFirst()
        .orElse(-1);
  }

  @Test
  void eachStageEachCommitAndWhatWaits() throws Exception {
    server.gateway.gauge("writ.sandbox.running", "Sandboxes that run", () -> 3);
    server.post("alices", "/test/r/calc", "{}");
    server.post("alices", "/test/r/mail", "{}"); // not pure: its dispatch is made durable
    server.post("/v1/effects", server.home.ask("nobody").subject("alice").bytes());
    String metrics = metrics();
    for (String stage :
        List.of(
            "judgement",
            "gate",
            "snapshot",
            "prepare",
            "dispatch",
            "run",
            "drift",
            "canonicalize",
            "store",
            "receipt")) {
      assertThat(
              value(metrics, "writ_stage_seconds_count{refused=\"false\",stage=\"" + stage + "\"}"))
          .as(stage)
          .isEqualTo(2);
    }
    assertThat(value(metrics, "writ_stage_seconds_count{refused=\"true\",stage=\"admission\"}"))
        .isEqualTo(1);
    assertThat(value(metrics, "writ_ledger_commit_seconds_count")).isGreaterThanOrEqualTo(3);
    assertThat(value(metrics, "writ_ledger_commit_batches_sum")).isGreaterThanOrEqualTo(3);
    assertThat(value(metrics, "writ_ledger_waiting")).isZero();
    assertThat(value(metrics, "writ_sandbox_running")).isEqualTo(3);
    assertThat(metrics)
        .contains(
            "writ_effects_total{outcome=\"succeeded\",repeated=\"false\",role=\"worker\","
                + "surface=\"test\",tool=\"mail\",verdict=\"allow\"} 1.0");
  }

  /** Names, paths, methods and runs that callers make up become no label. */
  @Test
  void noCallerMakesTheMetricsGrow() throws Exception {
    for (int i = 0; i < 5; i++) {
      mischief(i);
      metrics();
    }
    long series = metrics().lines().count();
    for (int i = 5; i < 25; i++) {
      mischief(i);
    }
    assertThat(metrics().lines().count()).isEqualTo(series);
    assertThat(metrics()).doesNotContain("made-up");
  }

  private void mischief(int i) throws Exception {
    server.post("alices", "/test/made-up-run-" + i + "/made-up-tool-" + i, "{}");
    server.get("alices", "/made-up/" + i);
    server.get("made-up-token-" + i, "/v1/runs");
    server.get("alices", "/v1/runs/made-up-" + i);
    server.send(
        server.as("alices", "/v1/runs").method("MADE" + i, HttpRequest.BodyPublishers.noBody()));
    server.post(
        "/v1/effects", server.home.ask("alice").run("made-up-" + i).tool("made-up-" + i).bytes());
  }

  @Test
  void readinessAsksWhatItIsToldToButNotForEverybodyWhoAsks() throws Exception {
    for (int i = 0; i < 20; i++) {
      var ready = server.send(server.to("/ready").GET());
      assertThat(ready.statusCode()).isEqualTo(200);
      assertThat(ready.body()).contains("{\"name\":\"sandbox\",\"ok\":true}");
    }
    assertThat(asked.get()).isEqualTo(1);
    sandbox.set(false);
    server.home.clock.forward(Duration.ofSeconds(1));
    var ready = server.send(server.to("/ready").GET());
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(ready.body())
        .contains("{\"name\":\"sandbox\",\"ok\":false}")
        .doesNotContain("engine");
    assertThat(asked.get()).isEqualTo(2);
    String metrics = metrics();
    assertThat(value(metrics, "writ_ready{check=\"sandbox\"}")).isZero();
    for (String check : List.of("disk", "ledger", "clock", "keys", "policy", "not-draining")) {
      assertThat(value(metrics, "writ_ready{check=\"" + check + "\"}")).as(check).isEqualTo(1);
    }
    assertThat(asked.get()).as("a scrape asks no more often").isEqualTo(2);
    sandbox.set(true);
    server.home.clock.forward(Duration.ofSeconds(1));
    assertThat(server.send(server.to("/ready").GET()).statusCode()).isEqualTo(200);
  }
}
