package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Await;
import dev.writ.fixture.TestClock;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.LogEvent;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** spec/telemetry.md: {@code unforeseen} is what nobody foresaw, and nothing else. */
@Timeout(120)
class AFailureOfHousekeepingHasItsCodeTest {
  private static final String CONFIG =
      "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n" + WholeGateway.token("a", "alice", "");
  private static final String POLICY =
      TestPolicy.YAML.replace(
              "subject: alice, roles: [worker]",
              "subject: alice, roles: [worker], surfaces: [test]")
          + "runs: { idle_max_s: 600 }\n";

  @TempDir Path dir;

  private static List<JsonValue.Obj> lines(WholeGateway server, LogEvent event) {
    return server.logged().stream()
        .filter(line -> line.get("event").equals(JsonValue.of(event.text())))
        .toList();
  }

  @Test
  void aRefusalIsLoggedWithItAndGoesOnToBeTried() throws Exception {
    TestHome home = TestGateway.newHome(dir);
    try (WholeGateway server = new WholeGateway(home, CONFIG, dir)) {
      home.activate(POLICY);
      assertThat(server.post("a", "/test/idle/calc", "{\"n\":1}").statusCode()).isEqualTo(200);
      home.revoke(TestGateway.SURFACE); // so that its runs cannot be closed
      home.clock.forward(Duration.ofSeconds(700));
      Await.until(() -> lines(server, LogEvent.HOUSEKEEPING).size() >= 2);
      assertThat(lines(server, LogEvent.HOUSEKEEPING))
          .allSatisfy(line -> {
            assertThat(line.get("code")).isEqualTo(JsonValue.of("CAN-055"));
            assertThat(line.get("level")).isEqualTo(JsonValue.of("error"));
          });
      assertThat(lines(server, LogEvent.UNFORESEEN)).isEmpty();
    }
  }

  @Test
  void whatNobodyForesawIsLoggedByItsTypeAlone() {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    JsonLog log =
        new JsonLog(
            new PrintStream(said, true, StandardCharsets.UTF_8), new TestClock(Instant.EPOCH));
    log.failed(LogEvent.HOUSEKEEPING.text(), new IllegalStateException("a path of this host"));
    assertThat(said.toString(StandardCharsets.UTF_8))
        .contains("\"unforeseen\"", "IllegalStateException")
        .doesNotContain("housekeeping", "a path of this host");
    said.reset();
    log.failed(
        LogEvent.HOUSEKEEPING.text(), new WritException(GatewayError.PARAMETER, "for a test"));
    assertThat(said.toString(StandardCharsets.UTF_8))
        .contains("\"housekeeping\"", GatewayError.PARAMETER.code(), "for a test")
        .doesNotContain("unforeseen");
  }
}
