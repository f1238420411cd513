package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.verify.bundle.BundleExport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server as `writ serve` puts it together. */
class TheServerTellsHowItIsTest {
  private static final String TOKEN = "a-token-that-nobody-logs";

  @TempDir Path dir;
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final HttpClient client = HttpClient.newHttpClient();
  private TestHome home;
  private Gateway gateway;

  @BeforeEach
  void start() {
    home = TestGateway.newHome(dir);
    Running running = new Running();
    home.drivers.replaceAll(running::cancellable);
    home.restart();
    GatewayConfig d = GatewayConfig.minimal(0);
    GatewayConfig config =
        new GatewayConfig(
            d.listen(),
            d.limits(),
            List.of(
                new Tokens.Entry(
                    "alices",
                    Tokens.digest(TOKEN),
                    TestKeys.TENANT,
                    "alice",
                    List.of(),
                    Optional.empty())),
            d.surfaces(),
            Duration.ofSeconds(30),
            d.blobBytesMax());
    gateway =
        Gateway.start(
            config,
            new GatewayInstallation(
                home.kernel(),
                running,
                dir,
                new TreeMap<>(),
                new RunBundle(BundleExport.Packages.of(home.tools)),
                home.clock,
                new SecureRandom(),
                new PrintStream(log, true, StandardCharsets.UTF_8)),
            _ -> List.of());
  }

  @AfterEach
  void stop() {
    client.close();
    gateway.close();
    home.close();
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(gateway.url() + path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private int post(String path, Envelope body) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(URI.create(gateway.url() + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body.toBytes()))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  @Test
  void healthIsHealthyAndReadyTurnsFalseWhenTheLedgerFails() throws Exception {
    assertThat(get("/health").body()).isEqualTo("{\"status\":\"healthy\"}");
    assertThat(get("/ready").statusCode()).isEqualTo(200);
    home.beforeWrite(() -> {
      throw new UncheckedIOException(new IOException("no space"));
    });
    assertThat(post("/v1/effects", home.ask("alice").sign())).isGreaterThanOrEqualTo(500);
    post("/v1/effects", home.ask("alice").sign());
    HttpResponse<String> ready = get("/ready");
    assertThat(ready.body()).contains("{\"name\":\"ledger\",\"ok\":false}");
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void readyTurnsFalseWhenAKeyThatSignsIsRevokedAndTrueWithAnother() throws Exception {
    assertThat(get("/ready").body()).contains("{\"name\":\"keys\",\"ok\":true}");
    for (KeyRole role : List.of(KeyRole.GUARDIAN, KeyRole.EXECUTOR)) {
      home.revoke(role.text());
      assertThat(post("/v1/effects", home.ask("alice").sign())).isEqualTo(503);
      HttpResponse<String> ready = get("/ready");
      assertThat(ready.body()).contains("{\"name\":\"keys\",\"ok\":false,\"why\":\"EXE-912\"}");
      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(get("/health").statusCode()).isEqualTo(200);
      SigningKey next = SigningKey.generateEd25519(new SecureRandom());
      home.enrol(
          new TrustedKey(
              next.verifyingKey(),
              role,
              Optional.empty(),
              role.text() + "-2",
              home.clock.instant(),
              Optional.empty(),
              Optional.empty()));
      home.kernel().signWith(role, next);
      assertThat(get("/ready").statusCode()).isEqualTo(200);
      assertThat(post("/v1/effects", home.ask("alice").sign())).isEqualTo(200);
    }
  }

  @Test
  void theLogHasIdsAndNeitherPayloadsNorCredentials() throws Exception {
    Envelope request = home.ask("alice").params("{\"private\":\"a-payload\"}").sign();
    post("/v1/effects", request);
    get(
        "/v1/runs",
        "Authorization",
        "Bearer " + TOKEN,
        "traceparent",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    get("/v1/runs", "Authorization", "Bearer wrong-" + TOKEN);
    gateway.close();
    String text = log.toString(StandardCharsets.UTF_8);
    assertThat(text)
        .contains("\"request\":\"" + request.id() + "\"")
        .contains("\"credential\":\"alices\"")
        .contains("4bf92f3577b34da6a3ce929d0e0e4736")
        .contains("\"code\":\"GWY-020\"")
        .contains("\"event\":\"stopped\"")
        .doesNotContain("a-payload")
        .doesNotContain(TOKEN);
    text.lines()
        .forEach(line ->
            assertThat(Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(JsonValue.Obj.class));
  }

  @Test
  void metricsCountEffectsByPolicysNamesAlone() throws Exception {
    post("/v1/effects", home.ask("alice").sign());
    post("/v1/effects", home.ask("alice").tool("a-name-that-somebody-made-up").sign());
    String metrics = get("/metrics").body();
    assertThat(metrics)
        .contains(
            "writ_effects_total{outcome=\"succeeded\",repeated=\"false\",role=\"worker\","
                + "surface=\"native\",tool=\"calc\",verdict=\"allow\"} 1.0")
        .contains("writ_http_requests_seconds_bucket")
        .contains("route=\"/v1/effects\"")
        .doesNotContain("made-up");
  }

  @Test
  void aNewPolicyAndARevocationHoldAtOnce() throws Exception {
    Envelope asked = home.ask("alice").sign();
    var decided = home.decide(asked);
    byte[] order =
        Jcs.write(
            JsonValue.object()
                .put("decision", decided.decisionEnvelope().toJson())
                .put("intent", decided.intent().orElseThrow().toJson())
                .put("order", home.order(decided.intent().orElseThrow().id(), "alice").toJson())
                .build());
    var next =
        TestPolicy.after(
            home.policy(),
            TestPolicy.YAML.replace(
                "effect: { tool: sim }, require: { cel: 'true' }",
                "effect: { tool: sim }, require: { cel: 'false' }"),
            home.tools);
    assertThat(post("/v1/policies", home.ask("alice").sign())).isEqualTo(400);
    assertThat(post("/v1/policies", home.signed(next))).isEqualTo(200);
    assertThat(home.policy().digest()).isEqualTo(next.digest());
    assertThat(post("/v1/policies", home.signed(next))).isEqualTo(409);
    // What was decided under the old one is refused, and says so; asked again, it is judged anew.
    HttpResponse<String> stale =
        client.send(
            HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/executions"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(order))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(stale.statusCode()).isEqualTo(409);
    assertThat(stale.body()).contains("\"code\":\"EXE-201\"");
    assertThat(home.driver.runs()).isEmpty();
    assertThat(post("/v1/effects", asked)).isEqualTo(200);
    assertThat(home.kinds("acme", "run-1"))
        .containsSubsequence("decision.made", "effect.refused", "decision.made", "receipt.signed");
    assertThat(post("/v1/effects", home.ask("alice").tool("sim").sign())).isEqualTo(403);
    assertThat(post("/v1/effects", home.ask("alice").sign())).isEqualTo(200);
    Envelope revocation =
        home.change(
            EventKind.KEY_REVOKED,
            JsonValue.object().put("kid", TestKeys.key("alice").kid()).build());
    assertThat(post("/v1/system-changes", revocation)).isEqualTo(200);
    assertThat(post("/v1/effects", home.ask("alice").sign())).isEqualTo(403);
  }

  @Test
  void aToolIsGovernedWhileTheServerRuns() throws Exception {
    var policy = TestPolicy.after(home.policy(), TestGovernance.YAML, home.tools);
    assertThat(post("/v1/policies", home.signed(policy))).isEqualTo(200);
    for (TestParty party : TestGovernance.PARTIES) {
      assertThat(post("/v1/system-changes", home.enrolment(party.trusted()))).isEqualTo(200);
    }
    TestGovernance governance = new TestGovernance(home);
    ToolRef words = governance.registered("1.0.0");
    Envelope active = governance.staging(words, RolloutStage.ACTIVE);
    assertThat(post("/v1/system-changes", active)).isEqualTo(409);
    assertThat(post("/v1/policies", governance.submission(words))).isEqualTo(400);
    for (Envelope word :
        List.of(
            governance.submission(words),
            governance.validation(words),
            governance.approval(words, "ada", "tool-reviewer"),
            governance.approval(words, "ben", "tool-reviewer"),
            governance.approval(words, "cyd", "security"))) {
      assertThat(post("/v1/effects", home.ask("alice").tool("words").sign())).isEqualTo(403);
      assertThat(post("/v1/system-changes", word)).isEqualTo(200);
    }
    assertThat(post("/v1/system-changes", governance.approval(words, "ada", "other")))
        .isEqualTo(403);
    assertThat(post("/v1/system-changes", active)).isEqualTo(200);
    assertThat(post("/v1/effects", home.ask("alice").tool("words").sign())).isEqualTo(200);
    Envelope revocation =
        home.change(
            EventKind.TOOL_REVOKED,
            JsonValue.object().put("tool", "words").put("version", "1.0.0").build());
    assertThat(post("/v1/system-changes", revocation)).isEqualTo(200);
    assertThat(post("/v1/effects", home.ask("alice").tool("words").sign())).isEqualTo(403);
  }
}
