package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stages 1 to 3 refuse over a socket: each is in the metrics and in the log, by stage and code. */
class EachStageThatRefusesIsCountedTest {
  @TempDir Path dir;

  private static JsonValue.Obj decided(WholeGateway server) throws Exception {
    Envelope request = server.home.ask("alice").sign();
    HttpResponse<String> answer = server.post("/v1/decisions", request.toBytes());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return (JsonValue.Obj) Jcs.parse(answer.body().getBytes(StandardCharsets.UTF_8));
  }

  private static String executed(WholeGateway server, JsonValue.Obj decided) throws Exception {
    JsonValue intent = decided.get("intent");
    byte[] body =
        Jcs.write(
            JsonValue.object()
                .put("decision", decided.get("decision"))
                .put("intent", intent)
                .put("order", server.home.order(TestGateway.idOf(intent), "alice").toJson())
                .build());
    return server
        .send(server.to("/v1/executions").POST(HttpRequest.BodyPublishers.ofByteArray(body)))
        .body();
  }

  @Test
  void gateSnapshotAndPrepare() throws Exception {
    String scraped;
    try (WholeGateway server =
        new WholeGateway(
            TestGateway.newHome(dir),
            "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n"
                + WholeGateway.token("alices", "alice", ""),
            dir)) {
      JsonValue.Obj late = decided(server);
      server.home.clock.forward(Duration.ofHours(1));
      assertThat(executed(server, late)).contains("EXE-107");
      JsonValue.Obj stale = decided(server);
      server.home.activate(
          TestPolicy.YAML.replace(
              "effect: { tool: sim }, require: { cel: 'true' }",
              "effect: { tool: sim }, require: { cel: 'false' }"));
      assertThat(executed(server, stale)).contains("EXE-201");
      server.home.driver.refusesToPrepare(new IllegalStateException());
      assertThat(server.post("/v1/effects", server.home.ask("alice").sign().toBytes()).body())
          .contains("EXE-308");
      assertThat(
              server.post("/v1/decisions", server.home.ask("alice").tool("sim").sign().toBytes()))
          .extracting(HttpResponse::body)
          .asString()
          .contains("DENY");
      scraped = server.get("alices", "/metrics").body();
      server.gateway.close(); // lines are written after their answers
      assertThat(server.logged())
          .filteredOn(line -> JsonValue.of("refused").equals(line.get("outcome")))
          .extracting(line -> line.get("stage") + " " + line.get("code"))
          .containsExactly(
              JsonValue.of("gate") + " " + JsonValue.of("EXE-107"),
              JsonValue.of("snapshot") + " " + JsonValue.of("EXE-201"),
              JsonValue.of("prepare") + " " + JsonValue.of("EXE-308"));
    }
    for (String[] refusal :
        new String[][] {{"gate", "EXE-107"}, {"snapshot", "EXE-201"}, {"prepare", "EXE-308"}}) {
      assertThat(
              scraped
                  .lines()
                  .filter(line -> line.startsWith("writ_refusals_total{"))
                  .filter(line -> line.contains("stage=\"" + refusal[0] + "\""))
                  .filter(line -> line.contains("code=\"" + refusal[1] + "\"")))
          .as(refusal[0])
          .hasSize(1)
          .allMatch(line -> line.endsWith(" 1.0"));
    }
    assertThat(scraped.lines().filter(line -> line.startsWith("writ_policy_denials_total{")))
        .as("a denial of the first of two steps")
        .hasSize(1);
  }
}
