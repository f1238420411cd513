package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.at;
import static dev.writ.surfaces.engine.EngineServer.body;
import static dev.writ.surfaces.engine.EngineServer.json;
import static dev.writ.surfaces.engine.EngineServer.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.guardian.document.Determinism;
import dev.writ.surfaces.seed.ScriptedLanguage;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 004's contract as its clients meet it: what is asked, what is answered, what is refused. */
class TheUniversalContractOverASocketTest {
  @TempDir Path dir;
  private EngineServer engine;

  @BeforeEach
  void start() {
    engine = new EngineServer(dir);
    engine.gives("{\"ok\":true,\"words\":2}");
  }

  @AfterEach
  void stop() {
    engine.close();
    assertThat(engine.server.failures).isEmpty();
  }

  private void refused(Reply reply, int status, String code) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    assertThat(reply.string("code")).isEqualTo(code);
    assertThat(engine.server.home.driver.runs()).isEmpty();
  }

  @Test
  void anOperationRunsAndTheResultSaysAllOfIt() {
    Digest file = engine.put("alice", "one two".getBytes(StandardCharsets.UTF_8));
    engine.does(_ ->
        new DriverOutcome(
            DriverOutcome.End.SUCCEEDED,
            "ok",
            "",
            Optional.of(
                new DriverOutcome.Output(
                    "{\"ok\":true}".getBytes(StandardCharsets.UTF_8), Behaviours.JSON)),
            List.of(new DriverOutcome.Artifact("page.html", new byte[] {60}, "text/html")),
            new Metrics(12, (3 << 20) + 1, 34, 0),
            JsonValue.object().put("stderr", "it was easy\n").build()));
    Reply reply =
        engine.post(
            "alice",
            body(
                "req-1",
                "toolVersion",
                "\"1.0.0\"",
                "language",
                "\"python\"",
                "resourceClass",
                "\"small\"",
                "timeoutBudgetMs",
                "5000",
                "correlationId",
                "\"case-7\"",
                "tenantId",
                "\"acme\"",
                "executionPolicyId",
                "\"test\"",
                "inputArtifacts",
                "[{\"name\":\"in.txt\",\"digest\":\""
                    + file
                    + "\",\"mediaType\":\"text/plain\"}]"));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.string("status")).isEqualTo("Succeeded");
    assertThat(reply.string("state")).isEqualTo("Completed");
    assertThat(at(reply, "outputPayload")).isEqualTo(json("{\"ok\":true}"));
    assertThat(at(reply, "incidents")).isEqualTo(json("[]"));
    assertThat(at(reply, "metrics"))
        .isEqualTo(json("{\"cpuMs\":12,\"memoryPeakMb\":4,\"queueWaitMs\":0,\"wallMs\":34}"));
    assertThat(at(reply, "context", "tenant")).isEqualTo(JsonValue.of("acme"));
    assertThat(at(reply, "context", "user")).isEqualTo(JsonValue.of("alice"));
    assertThat(at(reply, "context", "correlation")).isEqualTo(JsonValue.of("case-7"));
    assertThat(text(reply, "context", "policySnapshot", "policy"))
        .isEqualTo(engine.server.home.policy().digest().toString());
    assertThat(text(reply, "tool", "packageDigest"))
        .isEqualTo(ScriptedLanguage.manifest("words", "1.0.0").packageDigest().toString());
    assertThat(reply.string("traceId")).matches("[0-9a-f]{32}");

    var run = engine.server.home.driver.runs().getFirst();
    assertThat(run.invocation().scope().run()).isEqualTo("engine:case-7");
    assertThat(run.invocation().inputs().getFirst().size()).isEqualTo(7);
    assertThat(run.invocation().resources().wallMs()).isEqualTo(5_000);
    assertThat(run.invocation().resources().cpuMs()).isEqualTo(10_000);
    assertThat(run.invocation().resources().memoryBytes()).isEqualTo(256 << 20);

    // Every reference leads somewhere.
    Reply artifact = engine.server.get("alice", text(reply, "outputArtifacts", "0", "ref"));
    assertThat(artifact.status()).isEqualTo(200);
    assertThat(artifact.body()).isEqualTo(new byte[] {60});
    assertThat(text(reply, "outputArtifacts", "0", "name")).isEqualTo("page.html");
    Reply logs = engine.server.get("alice", reply.string("logsRef"));
    assertThat(logs.text()).contains("it was easy");
    Reply receipt = engine.server.get("alice", "/v1/receipts/" + text(reply, "ids", "receipt"));
    assertThat(receipt.status()).isEqualTo(200);
    assertThat(
            engine.server.get("alice", "/v1/decisions/" + text(reply, "ids", "decision")).status())
        .isEqualTo(200);
  }

  @Test
  void whatIsLeftOutHasADefault() {
    Reply reply = engine.post("alice", body("req-1"));
    assertThat(reply.string("status")).isEqualTo("Succeeded");
    assertThat(text(reply, "context", "correlation")).isEqualTo("req-1");
    assertThat(text(reply, "tool", "toolVersion")).isEqualTo("1.0.0");
    // The tool's own class, as far as its role has it.
    assertThat(engine.server.home.driver.runs().getFirst().invocation().resources().cpuMs())
        .isEqualTo(50_000);
    assertThat(engine.tickets)
        .extracting(Ticket::resourceClass, Ticket::tenant, Ticket::subject, Ticket::tool)
        .containsExactly(tuple("medium", "acme", "alice", "words"));
  }

  @Test
  void theGreatestActiveVersionIsMeantWhereNoneIsNamed() {
    engine.server.home.tools.register(ScriptedLanguage.manifest("words", "1.10.0"));
    engine.server.home.tools.register(ScriptedLanguage.manifest("words", "1.9.0"));
    engine.server.home.activate(SeedServer.POLICY);
    assertThat(text(engine.post("alice", body("a")), "tool", "toolVersion")).isEqualTo("1.10.0");
    assertThat(
            text(
                engine.post("alice", body("b", "toolVersion", "\"1.9.0\"")), "tool", "toolVersion"))
        .isEqualTo("1.9.0");
  }

  @Test
  void whatTheContractHasNotIsRefused() {
    String none = "sha256:" + "0".repeat(64);
    for (String[] row :
        new String[][] {
          {"source", "\"print(1)\"", "CAN-021"},
          {"script", "\"print(1)\"", "CAN-021"},
          {"code", "\"print(1)\"", "CAN-021"},
          {"context", "{}", "CAN-021"},
          {"policySnapshot", "\"" + none + "\"", "CAN-021"},
          {"subject", "\"bob\"", "CAN-021"},
          {"inputArtifacts", "[{\"name\":\"a\",\"content\":\"x\"}]", "CAN-020"},
          {
            "inputArtifacts",
            "[{\"name\":\"a\",\"digest\":\"" + none + "\",\"path\":\"/etc\"}]",
            "CAN-021"
          },
          {"inputArtifacts", "{}", "CAN-022"},
          {"inputPayload", "\"print(1)\"", "CAN-022"},
          {"inputPayload", "[]", "CAN-022"},
          {"resourceClass", "\"huge\"", "CAN-023"},
          {"resourceClass", "\"SMALL\"", "CAN-023"},
          {"timeoutBudgetMs", "0", "CAN-023"},
          {"timeoutBudgetMs", "-1", "CAN-023"},
          {"timeoutBudgetMs", "86400001", "CAN-023"},
          {"timeoutBudgetMs", "1.5", "CAN-022"},
          {"timeoutBudgetMs", "\"5\"", "CAN-022"},
          {"correlationId", "\"\"", "CAN-023"},
          {"correlationId", "\"" + "c".repeat(201) + "\"", "CAN-023"},
          {"toolVersion", "1", "CAN-022"},
        }) {
      Reply reply = engine.post("alice", body("req-1", row[0], row[1]));
      assertThat(reply.status()).as(reply.text()).isEqualTo(400);
      assertThat(reply.string("code")).as(row[0] + " " + row[1]).isEqualTo(row[2]);
    }
    for (String requestId :
        List.of("../x", "a/b", "a b", "", ".", "\u00e9", "-", "x".repeat(129))) {
      assertThat(engine.post("alice", body(requestId)).status()).as(requestId).isEqualTo(400);
    }
    assertThat(engine.server.home.driver.runs()).isEmpty();
    assertThat(engine.get("alice", "req-1").status()).isEqualTo(404);
  }

  /** Its field, what was found, and what is allowed. */
  @Test
  void aRefusalSaysWhatIsWrongWithWhat() {
    for (String requestId : List.of("", "a".repeat(129), "a b")) {
      assertThat(engine.post("alice", body(requestId)).string("detail"))
          .isEqualTo(
              "request/requestId must have 1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or"
                  + " digit; it has "
                  + requestId.length());
    }
    detail("correlationId", "\"\"", "request/correlationId must have 1 to 200 characters", "has 0");
    detail("correlationId", "\"" + "c".repeat(201) + "\"", "1 to 200 characters", "has 201");
    detail("correlationId", "\"a\\u0000\"", "none of them a control character");
    detail("timeoutBudgetMs", "-1", "request/timeoutBudgetMs is -1, and must be 1 to 86400000");
    detail("language", "\"node\"", "language node; the tool's is ");
    detail("resourceClass", "\"large\"", "resourceClass large; the tool's is ");
    detail("executionPolicyId", "\"lax\"", "executionPolicyId lax; in force is ");
    detail(
        "inputArtifacts",
        "[{\"name\":\"a\",\"digest\":\"zz\"}]",
        "request/inputArtifacts/0/digest: \"zz\"");
  }

  private void detail(String member, String value, String... parts) {
    assertThat(engine.post("alice", body("d", member, value)).string("detail")).contains(parts);
  }

  /** A body may be one name. */
  @Test
  void anUnknownNameComesBackShortened() {
    Reply reply = engine.post("alice", body("r", "n".repeat(100_000), "1"));
    refused(reply, 400, "CAN-021");
    assertThat(reply.text()).hasSizeLessThan(3_000);
    assertThat(reply.string("detail")).startsWith("request/nnn").endsWith("n…");
  }

  @Test
  void authorityIsTheServersToGive() {
    refused(engine.post("alice", body("r", "tenantId", "\"other\"")), 403, "GWY-022");
    refused(engine.post("alice", body("r", "tenantId", "\"nowhere\"")), 403, "GWY-022");
    refused(engine.post("alice", body("r", "executionPolicyId", "\"lax\"")), 409, "GWY-203");
    refused(engine.post("alice", body("r", "resourceClass", "\"large\"")), 422, "GWY-204");
    refused(engine.post("alice", body("r", "language", "\"node\"")), 422, "GWY-202");
  }

  @Test
  void aToolThatTakesSourceCodeIsNotOffered() {
    String mail = body("r").replace("\"words\"", "\"mail\"");
    refused(engine.post("alice", mail), 404, "GWY-201");
    refused(engine.post("alice", body("r").replace("\"words\"", "\"nothing\"")), 404, "GWY-201");
    // A driver of a language alone makes no package.
    engine.server.home.tools.register(
        TestTools.manifest("words", Determinism.RECORDED, "python", "box"));
    engine.server.home.activate(SeedServer.POLICY);
    refused(engine.post("alice", body("r")), 404, "GWY-201");
  }

  @Test
  void anInputIsAReferenceToWhatTheTenantHasPut() {
    Digest foreign = engine.put("eve", new byte[] {1, 2, 3});
    for (String digest : List.of(foreign.toString(), Digest.sha256(new byte[0]).toString())) {
      refused(
          engine.post(
              "alice",
              body("r", "inputArtifacts", "[{\"name\":\"a\",\"digest\":\"" + digest + "\"}]")),
          422,
          "EXE-306");
    }
  }

  @Test
  void whatPolicyDeniesIsASignedDenial() {
    Reply denied = engine.post("alice", body("r", "inputPayload", "{\"forbidden\":1}"));
    assertThat(denied.status()).isEqualTo(403);
    assertThat(denied.string("status")).isEqualTo("PolicyDenied");
    assertThat(denied.string("state")).isEqualTo("Failed");
    assertThat(text(denied, "incidents", "0", "kind")).isEqualTo("PolicyDenied");
    assertThat(text(denied, "incidents", "0", "code")).startsWith("GRD-1");
    assertThat(at(denied, "logsRef")).isNull();
    assertThat(text(denied, "failure", "guidance", "help", "0"))
        .startsWith("Look at the argument \"forbidden\"");
    Reply unknown = engine.post("alice", body("s", "toolVersion", "\"9.9.9\""));
    assertThat(unknown.string("status")).isEqualTo("PolicyDenied");
    Reply operation = engine.post("alice", body("t").replace("\"do\"", "\"undo\""));
    assertThat(operation.string("status")).isEqualTo("PolicyDenied");
    assertThat(engine.server.decisionCodes()).hasSize(3).doesNotContain("");
    assertThat(engine.server.home.driver.runs()).isEmpty();
    // The same again is the same answer, and another body is no way around it.
    Reply again = engine.post("alice", body("r", "inputPayload", "{\"forbidden\":1}"));
    assertThat(again.json()).isEqualTo(denied.json());
    assertThat(engine.get("alice", "r").json()).isEqualTo(denied.json());
    refused(engine.post("alice", body("r")), 409, "GWY-205");
  }

  @Test
  void whatNeedsApprovalSaysWhatToApproveAndGoesThroughAfterwards() {
    String body = body("r").replace("\"words\"", "\"gated\"");
    engine.server.home.driver.does("gated", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    Reply waits = engine.post("alice", body);
    assertThat(waits.status()).isEqualTo(403);
    assertThat(waits.string("status")).isEqualTo("PolicyDenied");
    assertThat(text(waits, "incidents", "0", "code")).isEqualTo("GRD-104");
    String request = text(waits, "incidents", "0", "approval", "request");
    assertThat(request).isEqualTo(text(waits, "ids", "request"));
    assertThat(engine.post("alice", body).json()).isEqualTo(waits.json());
    engine.server.restart();
    assertThat(engine.get("alice", "r").json()).isEqualTo(waits.json());

    engine.server.home.approve(engine.server.home.document(Digest.parse(request)), "rita");
    Reply done = engine.post("alice", body);
    assertThat(done.string("status")).as(done.text()).isEqualTo("Succeeded");
    assertThat(text(done, "ids", "request")).isEqualTo(request);
    assertThat(engine.server.home.driver.runs()).hasSize(1);
  }

  @Test
  void theSameRequestIsServedOnce() {
    Reply first = engine.post("alice", body("r"));
    Reply again = engine.post("alice", body("r"));
    assertThat(again.json()).isEqualTo(first.json());
    assertThat(engine.get("alice", "r").json()).isEqualTo(first.json());
    assertThat(engine.server.home.driver.runs()).hasSize(1);
    engine.server.restart();
    assertThat(engine.post("alice", body("r")).json()).isEqualTo(first.json());
    assertThat(engine.get("alice", "r").json()).isEqualTo(first.json());
    assertThat(engine.server.home.driver.runs()).hasSize(1);
    Reply other = engine.post("alice", body("r", "inputPayload", "{}"));
    assertThat(other.status()).isEqualTo(409);
    assertThat(other.string("code")).isEqualTo("GWY-205");
    // Another subject's requestId is another's.
    assertThat(engine.post("bob", body("r", "inputPayload", "{}")).status()).isEqualTo(200);
  }

  @Test
  void nobodySeesAnothersExecution() {
    Reply alices = engine.post("alice", body("hers"));
    String unknown = engine.get("eve", "nobodys").text().replaceAll("[0-9a-f]{32}", "");
    for (String as : List.of("eve", "bob")) {
      assertThat(engine.get(as, "hers").text().replaceAll("[0-9a-f]{32}", ""))
          .isEqualTo(unknown.replace("nobodys", "hers"));
      assertThat(engine.cancel(as, "hers").status()).isEqualTo(404);
      assertThat(engine.server.get(as, alices.string("logsRef")).status()).isEqualTo(404);
      for (String kind : List.of("request", "decision", "receipt")) {
        assertThat(engine.server.get(as, "/v1/" + kind + "s/" + text(alices, "ids", kind)).status())
            .isEqualTo(404);
      }
    }
    assertThat(engine.post("eve", body("hers")).string("status")).isEqualTo("Succeeded");
    assertThat(text(engine.get("eve", "hers"), "context", "tenant"))
        .isEqualTo(TestKeys.OTHER_TENANT);
  }

  @Test
  void aLargeOrADeepOutputIsAReference() {
    engine.does(Behaviours.huge((1 << 20) + 10));
    Reply large = engine.post("alice", body("large"));
    assertThat(large.string("status")).isEqualTo("Succeeded");
    assertThat(at(large, "outputPayload")).isNull();
    assertThat(text(large, "outputArtifacts", "0", "name")).isEqualTo("outputPayload");
    Reply fetched = engine.server.get("alice", text(large, "outputArtifacts", "0", "ref"));
    assertThat(fetched.body()).hasSize((1 << 20) + 10);
    for (int depth : new int[] {40, 120, 126}) {
      engine.gives("{\"ok\":true,\"x\":" + "[".repeat(depth) + "]".repeat(depth) + "}");
      Reply deep = engine.post("alice", body("deep-" + depth));
      assertThat(deep.status()).isEqualTo(200);
      boolean served = deep.string("status").equals("Succeeded");
      boolean inline = at(deep, "outputPayload") != null;
      boolean referred = !at(deep, "outputArtifacts").equals(json("[]"));
      assertThat(inline ^ referred).as(deep.text()).isEqualTo(served);
    }
  }

  @Test
  void theLaneIsToldAndItsWaitIsInTheMetrics() {
    engine.lane =
        new Lane() {
          @Override
          public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
            return new Ran<>(work.get(), 321);
          }
        };
    Reply reply = engine.post("alice", body("r", "timeoutBudgetMs", "60000"));
    assertThat(at(reply, "metrics", "queueWaitMs")).isEqualTo(JsonValue.of(321));
    assertThat(engine.get("alice", "r").json()).isEqualTo(reply.json());
    assertThat(engine.tickets.getFirst().patience())
        .isPositive()
        .isLessThanOrEqualTo(Duration.ofMinutes(1));
  }

  /** An agent signs what it likes, also a key of the form of this surface's. */
  @Test
  void anAgentsOwnRequestIsNoExecution() {
    var signed = engine.server.home.ask("alice").run("r").key("engine/own").sign();
    engine.server.home.submit(signed);
    assertThat(engine.get("alice", "own").status()).isEqualTo(404);
    Reply reply = engine.post("alice", body("own"));
    assertThat(reply.status()).isEqualTo(409);
    assertThat(reply.string("code")).isEqualTo("EXE-110");
    assertThat(text(engine.get("alice", "own"), "failure", "code")).isEqualTo("EXE-110");
  }
}
