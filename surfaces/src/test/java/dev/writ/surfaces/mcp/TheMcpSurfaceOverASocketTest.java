package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.pipeline.WaitingRequests;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.surfaces.mcp.McpTestServer.Client;
import dev.writ.surfaces.mcp.McpTestServer.Reply;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The MCP surface byte by byte: sessions, calls and their ends, resources, refusals. */
class TheMcpSurfaceOverASocketTest {
  @TempDir static Path dir;
  private static McpTestServer server;
  private Client alice;
  private int runsBefore;

  @BeforeAll
  static void start() {
    server = new McpTestServer(dir);
  }

  @BeforeEach
  void open() {
    alice = server.client("alice");
    runsBefore = server.home.driver.runs().size();
  }

  @AfterEach
  void nothingUnforeseen() {
    assertThat(server.failures).isEmpty();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** How many effects tools have run for this test. */
  private int runs() {
    return server.home.driver.runs().size() - runsBefore;
  }

  private Request request(Reply reply) {
    return Request.read(server.home.document(Digest.parse(reply.meta("request"))).document());
  }

  private Decision decision(Reply reply) {
    Envelope signed = server.home.document(Digest.parse(reply.meta("decision")));
    server
        .home
        .kernel()
        .system()
        .trust()
        .verify(signed, Decision.TYPE, server.home.clock.instant());
    return Decision.read(signed.document());
  }

  @Test
  void initializeOpensASessionAndAgreesOnAVersion() {
    assertThat(alice.initialized.status()).isEqualTo(200);
    assertThat(alice.session).matches("[0-9a-f]{32}");
    assertThat(alice.initialized.result().get("protocolVersion"))
        .isEqualTo(JsonValue.of("2025-11-25"));
    for (String[] pair :
        List.of(
            new String[] {"2025-06-18", "2025-06-18"},
            new String[] {"2025-03-26", "2025-03-26"},
            new String[] {"2024-11-05", "2024-11-05"},
            new String[] {"2026-07-28", "2025-11-25"},
            new String[] {"1999-01-01", "2025-11-25"})) {
      Reply reply =
          server.send(
              McpTestServer.json(
                  server.as("alice"),
                  McpTestServer.bytes(McpTestServer.INITIALIZE.replace("2025-11-25", pair[0]))));
      assertThat(reply.result().get("protocolVersion")).isEqualTo(JsonValue.of(pair[1]));
      assertThat(reply.header("Mcp-Session-Id")).isNotEmpty().isNotEqualTo(alice.session);
    }
    assertThat(
            alice.post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}").status())
        .isEqualTo(202);
    assertThat(alice.ask("ping", "{}").result()).isEqualTo(JsonValue.object().build());
  }

  /** spec/guidance.md, 10: observing changes nothing of what the model is shown. */
  @Test
  void whatPolicyOnlyObservesIsInMetaAndNotInTheResult() {
    String call = "{\"name\":\"mail_do\",\"arguments\":{\"forbidden\":1}}";
    Reply denied = alice.ask("tools/call", call);
    assertThat(denied.result().get("isError")).isEqualTo(JsonValue.TRUE);
    server.home.activate(
        McpTestServer.POLICY.replace("name: test\n", "name: test\nmode: observe\n"));
    try {
      Reply let = alice.ask("tools/call", call);
      assertThat(let.result().get("isError")).isEqualTo(JsonValue.FALSE);
      assertThat(let.result().get("content").toString()).doesNotContain("GRD-102", "Not enforced");
      JsonValue.Obj meta = (JsonValue.Obj) let.result().get("_meta");
      JsonValue.Obj guidance = (JsonValue.Obj) meta.get("dev.writ/guidance");
      assertThat(guidance.get("observed")).isEqualTo(JsonValue.of("DENY"));
      assertThat(guidance.get("code")).isEqualTo(JsonValue.of("GRD-102"));
      assertThat(meta.get("dev.writ/code")).isNull();
    } finally {
      server.home.activate(McpTestServer.POLICY);
    }
  }

  /**
   * OpenTelemetry's conventions for the protocol: the message states its trace, on any transport.
   */
  @Test
  void aCallBelongsToTheTraceThatItsMessageStates() {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    String meta =
        "{\"traceparent\":\"00-" + trace + "-00f067aa0ba902b7-01\",\"tracestate\":\"v=1\"}";
    Reply traced =
        alice.ask("tools/call", "{\"name\":\"calc_do\",\"arguments\":{},\"_meta\":" + meta + "}");
    JsonValue.Obj context = request(traced).context();
    assertThat(((JsonValue.Str) context.get("traceparent")).value())
        .matches("00-" + trace + "-(?!00f067aa0ba902b7)[0-9a-f]{16}-01");
    assertThat(context.get("tracestate")).isEqualTo(JsonValue.of("v=1"));
    for (String bad : List.of("\"x\"", "[]", "{\"traceparent\":7}", meta.replace("00-4", "00-G"))) {
      Reply reply =
          alice.ask("tools/call", "{\"name\":\"calc_do\",\"arguments\":{},\"_meta\":" + bad + "}");
      assertThat(request(reply).context().get("traceparent").toString())
          .as("a trace that begins here")
          .doesNotContain(trace);
    }
  }

  @Test
  void listsWhatTheCallersRolesMayUseAndClaimsNoMoreThanIsTrue() {
    assertThat(names(alice))
        .containsExactlyInAnyOrder(
            "calc_do",
            "calc_text",
            "calc_twice",
            "mail_do",
            "mail_text",
            "mail_twice",
            "pay_do",
            "pay_text",
            "pay_twice",
            "sim_do",
            "sim_text",
            "sim_twice",
            "writ_outcome");
    assertThat(names(server.client("bob")))
        .containsExactlyInAnyOrder(
            "calc_text", "mail_do", "mail_text", "mail_twice", "writ_outcome");
    assertThat(names(server.client("narrow"))).containsExactly("writ_outcome");
    JsonValue.Obj calc = tool(alice, "calc_do");
    assertThat(hint(calc, "readOnlyHint")).isEqualTo(JsonValue.TRUE);
    assertThat(hint(tool(alice, "sim_do"), "readOnlyHint")).isEqualTo(JsonValue.FALSE);
    assertThat(hint(tool(alice, "mail_do"), "destructiveHint")).isEqualTo(JsonValue.TRUE);
    assertThat(((JsonValue.Obj) calc.get("inputSchema")).get("type"))
        .isEqualTo(JsonValue.of("object"));
    assertThat(calc.get("outputSchema")).isNotNull();
    assertThat(tool(alice, "calc_text").get("outputSchema")).isNull();
  }

  private static List<JsonValue> tools(Client client) {
    return ((JsonValue.Arr) client.ask("tools/list", "{}").result().get("tools")).items();
  }

  private static List<String> names(Client client) {
    return tools(client).stream()
        .map(t -> ((JsonValue.Str) ((JsonValue.Obj) t).get("name")).value())
        .toList();
  }

  private static JsonValue.Obj tool(Client client, String name) {
    return tools(client).stream()
        .map(JsonValue.Obj.class::cast)
        .filter(t -> t.get("name").equals(JsonValue.of(name)))
        .findFirst()
        .orElseThrow();
  }

  private static JsonValue hint(JsonValue.Obj tool, String name) {
    return ((JsonValue.Obj) tool.get("annotations")).get(name);
  }

  @Test
  void aCallIsVouchedForExecutedAndAnsweredWithTheIdsOfItsDocuments() {
    String message =
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"calc_do\","
            + "\"arguments\":{\"n\":1}}}";
    Reply reply = alice.post(message);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.json().get("id")).isEqualTo(JsonValue.of("x"));
    assertThat(reply.isError()).isFalse();
    JsonValue.Obj structured = (JsonValue.Obj) reply.result().get("structuredContent");
    assertThat(structured.get("params")).isEqualTo(JsonValue.object().put("n", 1).build());
    assertThat(reply.said()).contains("\"params\":{\"n\":1}");

    Request request = request(reply);
    assertThat(request.origin())
        .contains(
            new Origin(
                "mcp", "bearer", "alice-token", Digest.sha256(McpTestServer.bytes(message))));
    assertThat(request.scope().run()).isEqualTo(alice.run());
    assertThat(request.scope().subject()).isEqualTo("alice");
    assertThat(request.idempotencyKey()).isEmpty();
    assertThat(request.effect().resources().cpuMs()).as("as policy says").isEqualTo(50_000);
    assertThat(reply.meta("verdict")).isEqualTo("ALLOW");
    assertThat(reply.meta("status")).isEqualTo("succeeded");
    assertThat(reply.header("Writ-Receipt")).isEqualTo(reply.meta("receipt"));
    long index =
        Long.parseLong(
            reply
                .result()
                .get("_meta")
                .toString()
                .replaceAll("(?s).*dev.writ/log_index=Num\\[value=([0-9]+).*", "$1"));
    assertThat(server.home.log().get((int) index).body())
        .isEqualTo(Digest.parse(reply.meta("receipt")));
    assertThat(server.effects.getLast()).isEqualTo("mcp calc");
    assertThat(server.finished(reply.meta("request")).surface()).isEqualTo("mcp");
  }

  @Test
  void twoEqualCallsAreTwoEffects() {
    Reply first = alice.call("mail_do", "{\"to\":\"x\"}");
    Reply second = alice.call("mail_do", "{\"to\":\"x\"}");
    assertThat(first.meta("receipt")).isNotEqualTo(second.meta("receipt"));
    assertThat(runs()).isEqualTo(2);
  }

  @Test
  void textIsTextAndAFailureSaysWhatTheReceiptSays() {
    Reply text = alice.call("calc_text", "{}");
    assertThat(text.isError()).isFalse();
    assertThat(text.result().get("structuredContent")).isNull();
    server.home.driver.does("sim", Behaviours.fails());
    Reply failed = alice.call("sim_do", "{}");
    assertThat(failed.isError()).isTrue();
    assertThat(failed.said()).startsWith("FAILED").contains(failed.meta("receipt"));
    assertThat(failed.meta("status")).isEqualTo("failed");
    assertThat(failed.meta("verdict")).isEqualTo("ALLOW");
  }

  @Test
  void whatNobodyKnowsIsSaidAtOnceAndWhatTheEgressProxyRefusedIsNamed() {
    server.home.driver.does("sim", _ -> DriverOutcome.inDoubt("POST was sent to a.example:443"));
    Reply doubt = alice.call("sim_do", "{}");
    assertThat(doubt.isError()).isTrue();
    assertThat(doubt.said())
        .startsWith("IN DOUBT: in-doubt: POST was sent to a.example:443.")
        .contains("Do not repeat it");
    assertThat(doubt.meta("status")).isEqualTo("in_doubt");
    String refused = "the egress proxy refused a.example:443 (not listed)";
    server.home.driver.does(
        "sim",
        _ ->
            DriverOutcome.failed(
                DriverOutcome.End.FAILED, "egress-denied", refused, DriverOutcome.Metrics.NONE));
    assertThat(alice.call("sim_do", "{}").said()).contains(refused);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"name\":\"mail_do\",\"arguments\":{\"forbidden\":1}}",
        "{\"name\":\"mail_do\",\"arguments\":[1]}",
        "{\"name\":\"mail_do\",\"arguments\":\"x\"}",
        "{\"name\":\"mail_do\",\"arguments\":null}",
        "{\"name\":\"no_such_tool\",\"arguments\":{\"a\":1}}",
        "{\"name\":\"mail\"}",
        "{\"name\":\"\"}",
        "{\"name\":7}",
        "{\"name\":\"a\\u0000b\"}",
        "{\"arguments\":{}}",
        "[]",
        "7",
        "null"
      })
  void whatIsWrongReachesTheGuardianAndEndsInASignedDenial(String params) {
    Reply reply = alice.ask("tools/call", params);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.isError()).as(reply.text()).isTrue();
    Decision decision = decision(reply);
    assertThat(decision.verdict()).isEqualTo(Verdict.DENY);
    assertThat(decision.scope().subject()).isEqualTo("alice");
    assertThat(reply.meta("code")).isEqualTo(decision.code().orElseThrow());
    assertThat(reply.said()).contains("DENIED", reply.meta("code"), reply.meta("decision"));
    assertThat(runs()).isZero();
  }

  @Test
  void aNarrowerTokenIsHeldToItsRoles() {
    Reply reply = server.client("narrow").call("mail_do", "{}");
    assertThat(decision(reply).verdict()).isEqualTo(Verdict.DENY);
    Reply roles = server.client("bob").call("calc_do", "{}");
    assertThat(decision(roles).verdict()).isEqualTo(Verdict.DENY);
    assertThat(roles.text()).doesNotContain("\"missing\":[{"); // nothing of a tool that is not its
    assertThat(runs()).isZero();
  }

  @Test
  void theSameCallAfterAnApprovalIsTheRequestThatWaited() {
    Reply waits = alice.call("pay_do", "{\"amount\":5}");
    assertThat(waits.isError()).isTrue();
    assertThat(waits.meta("verdict")).isEqualTo("ESCALATE");
    assertThat(waits.said()).contains("writ approve " + waits.meta("request"));
    assertThat(waits.said()).contains("It waits for 1 of 1 approvals by approvers in the role");
    Reply stillWaits = alice.call("pay_do", "{\"amount\":5}");
    assertThat(stillWaits.meta("request")).isEqualTo(waits.meta("request"));
    Reply other = alice.call("pay_do", "{\"amount\":6}");
    assertThat(other.meta("request")).isNotEqualTo(waits.meta("request"));

    approve(waits);
    assertThat(runs()).isZero();
    Reply served = alice.call("pay_do", "{\"amount\":5}");
    assertThat(served.isError()).isFalse();
    assertThat(served.meta("request")).isEqualTo(waits.meta("request"));
    Reply again = alice.call("pay_do", "{\"amount\":5}");
    assertThat(again.meta("verdict")).isEqualTo("ESCALATE");
    assertThat(again.meta("request")).isNotEqualTo(waits.meta("request"));
    assertThat(runs()).isEqualTo(1);
  }

  private void approve(Reply waits) {
    server.home.approve(server.home.document(Digest.parse(waits.meta("request"))), "rita");
  }

  @Test
  void anApprovalOutlivesTheSessionByTheRequestsId() {
    Reply waits = alice.call("pay_do", "{\"amount\":5}");
    String outcome = "{\"request\":\"" + waits.meta("request") + "\"}";
    approve(waits);
    for (String stranger : List.of("bob", "eve")) {
      Reply foreign = server.client(stranger).call("writ_outcome", outcome);
      Reply unknown =
          server
              .client(stranger)
              .call("writ_outcome", "{\"request\":\"sha256:" + "0".repeat(64) + "\"}");
      assertThat(foreign.isError()).isTrue();
      assertThat(foreign.said().replace(waits.meta("request"), "sha256:" + "0".repeat(64)))
          .isEqualTo(unknown.said());
    }
    assertThat(runs()).isZero();
    Client later = server.client("second");
    Reply served = later.call("writ_outcome", outcome);
    assertThat(served.isError()).as(served.text()).isFalse();
    assertThat(served.meta("run")).isEqualTo(alice.run());
    Reply repeated = later.call("writ_outcome", outcome);
    assertThat(repeated.meta("receipt")).isEqualTo(served.meta("receipt"));
    assertThat(repeated.meta("repeated")).contains("true");
    assertThat(runs()).isEqualTo(1);
    assertThat(later.call("writ_outcome", "{\"request\":7}").said()).contains("GWY-157");
  }

  @Test
  void aRejectionStandsForAWhileAndThenTheCallIsAnotherOne() {
    Reply waits = alice.call("pay_do", "{\"rejected\":1}");
    server.home.reject(server.home.document(Digest.parse(waits.meta("request"))), "rita");
    for (int again = 0; again < 2; again++) {
      Reply rejected = alice.call("pay_do", "{\"rejected\":1}");
      assertThat(rejected.meta("verdict")).isEqualTo("DENY");
      assertThat(rejected.meta("request")).isEqualTo(waits.meta("request"));
    }
    server.home.clock.forward(WaitingRequests.NO_STANDS.plusSeconds(1));
    assertThat(alice.call("pay_do", "{\"rejected\":1}").meta("verdict")).isEqualTo("ESCALATE");
  }

  /**
   * Nobody can approve it any more, so that a call that was bound to it would never be answered.
   */
  @Test
  void whatWaitedForTooLongIsNotWhatTheSameCallContinues() {
    long most = server.home.kernel().system().policyInForce().limits().pendingMaxS();
    Reply waits = alice.call("pay_do", "{\"amount\":7}");
    server.home.clock.forward(Duration.ofSeconds(most + 1));
    Reply anew = alice.call("pay_do", "{\"amount\":7}");
    assertThat(anew.meta("verdict")).isEqualTo("ESCALATE");
    assertThat(anew.meta("request")).isNotEqualTo(waits.meta("request"));
    approve(anew);
    Reply served = alice.call("pay_do", "{\"amount\":7}");
    assertThat(served.isError()).isFalse();
    assertThat(served.meta("request")).isEqualTo(anew.meta("request"));
  }

  /** A yes that came too late is the answer to that request, and to no later call. */
  @Test
  void aYesThatCameTooLateIsNotTheAnswerToTheNextCall() {
    long most = server.home.kernel().system().policyInForce().limits().pendingMaxS();
    Reply waits = alice.call("pay_do", "{\"amount\":8}");
    server.home.clock.forward(Duration.ofSeconds(most + 1));
    approve(waits);
    Reply anew = alice.call("pay_do", "{\"amount\":8}");
    assertThat(anew.meta("verdict")).isEqualTo("ESCALATE");
    assertThat(anew.meta("request")).isNotEqualTo(waits.meta("request"));
  }

  @Test
  void receiptsOutputsAndBundlesAreResourcesOfTheirOwnerAlone() {
    Reply called = alice.call("calc_do", "{\"secret\":\"of-alice\"}");
    String receipt = "writ://receipts/" + called.meta("receipt");
    String bundle = "writ://runs/" + alice.run() + "/bundle";
    assertThat(alice.ask("resources/list", "{}").text()).contains(receipt, bundle);
    assertThat(alice.ask("resources/templates/list", "{}").text())
        .contains("writ://receipts/{id}", "writ://runs/{run}/bundle");
    String envelope = content(alice.read(receipt), "text");
    assertThat(Envelope.parse(McpTestServer.bytes(envelope)).id().toString())
        .isEqualTo(called.meta("receipt"));
    assertThat(content(alice.read(receipt + "/output"), "text")).contains("of-alice");
    assertThat(content(alice.read(bundle), "blob")).startsWith("UEsD"); // PK, 3

    for (String name : List.of("bob", "eve")) {
      Client stranger = server.client(name);
      for (String uri : List.of(receipt, receipt + "/output", bundle)) {
        String nothing =
            uri.replace(called.meta("receipt"), "sha256:" + "0".repeat(64))
                .replace(alice.session, "0".repeat(32));
        Reply foreign = stranger.read(uri);
        assertThat(foreign.error()).isEqualTo(-32002);
        assertThat(withoutId(foreign).replace(uri, nothing))
            .isEqualTo(withoutId(stranger.read(nothing)));
      }
      assertThat(stranger.ask("resources/list", "{}").text()).doesNotContain(alice.session);
    }
    for (String odd :
        List.of("writ://receipts/x", "file:///etc/passwd", "writ://runs/%ZZ/bundle", "", "writ:")) {
      assertThat(alice.read(odd).error()).as(odd).isIn(-32002L, -32602L);
    }
    for (String without : List.of("{}", "{\"uri\":7}", "{\"uri\":null}", "[]")) {
      assertThat(alice.ask("resources/read", without).error()).as(without).isEqualTo(-32602);
    }
  }

  private static String withoutId(Reply reply) {
    return reply.text().replaceAll("\"id\":[0-9]+", "");
  }

  private static String content(Reply reply, String member) {
    assertThat(reply.error()).as(reply.text()).isZero();
    JsonValue.Obj first =
        (JsonValue.Obj) ((JsonValue.Arr) reply.result().get("contents")).items().getFirst();
    return ((JsonValue.Str) first.get(member)).value();
  }

  @Test
  void aSessionIsItsPrincipalsAlone() {
    for (String other : List.of("bob", "eve", "second", "narrow")) {
      Client thief = server.new Client(other, alice.session, alice.initialized);
      Reply foreign = thief.ask("ping", "{}");
      Reply unknown = server.new Client(other, "0".repeat(32), alice.initialized).ask("ping", "{}");
      assertThat(foreign.status()).isEqualTo(404);
      assertThat(withoutId(foreign)).isEqualTo(withoutId(unknown)).contains("GWY-154");
      assertThat(server.send(thief.request().DELETE()).status()).isEqualTo(404);
    }
    assertThat(alice.ask("ping", "{}").status()).isEqualTo(200);
    Reply none =
        server.send(
            McpTestServer.json(
                server.as("alice"),
                McpTestServer.bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")));
    assertThat(none.status()).isEqualTo(400);
    assertThat(none.text()).contains("GWY-153", "\"id\":1", "-32600");
  }

  @Test
  void whoOpensTooManySessionsLosesItsOwnOldestOnesAlone() {
    Client bob = server.client("bob");
    for (int i = 0; i < McpSessions.PER_SUBJECT_MAX; i++) {
      server.client("alice");
    }
    assertThat(alice.ask("ping", "{}").status()).isEqualTo(404);
    assertThat(bob.ask("ping", "{}").status()).isEqualTo(200);
  }

  @Test
  void deleteEndsTheSessionAndClosesItsRun() {
    alice.call("calc_do", "{}");
    assertThat(server.send(alice.request().DELETE()).status()).isEqualTo(204);
    assertThat(server.home.runState(TestKeys.TENANT, alice.run()).closed()).isTrue();
    assertThat(alice.ask("ping", "{}").status()).isEqualTo(404);

    Client waiting = server.client("alice");
    waiting.call("pay_do", "{}");
    assertThat(server.send(waiting.request().DELETE()).status()).isEqualTo(204);
    assertThat(server.home.runState(TestKeys.TENANT, waiting.run()).closed()).isFalse();

    Client unused = server.client("alice");
    assertThat(server.send(unused.request().DELETE()).status()).isEqualTo(204);
  }

  @Test
  void withoutASessionThereIsNoStreamToOpen() {
    Reply get = server.send(server.as("alice").GET());
    assertThat(get.status()).isEqualTo(405);
    assertThat(get.header("Allow")).contains("POST").contains("DELETE");
  }

  @Test
  void whoIsNotKnownGetsNothing() {
    HttpRequest.Builder nobody = HttpRequest.newBuilder(java.net.URI.create(server.url() + "/mcp"));
    Reply reply =
        server.send(McpTestServer.json(nobody, McpTestServer.bytes(McpTestServer.INITIALIZE)));
    assertThat(reply.status()).isEqualTo(401);
    assertThat(reply.header("WWW-Authenticate")).contains("Bearer");
    assertThat(reply.header("Mcp-Session-Id")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Origin:https://evil.example",
        "Origin:null",
        "Origin:http://localhost.evil.example",
        "Origin:http://127.0.0.1@evil.example",
        "Origin:%%%"
      })
  void aPageFromElsewhereMayNotCall(String header) {
    String[] parts = header.split(":", 2);
    Reply reply =
        server.send(
            McpTestServer.json(
                server.as("alice").header(parts[0], parts[1]),
                McpTestServer.bytes(McpTestServer.INITIALIZE)));
    assertThat(reply.status()).isEqualTo(403);
    assertThat(reply.text()).contains("GWY-155");
  }

  @Test
  void aPageOfThisMachineMayCall() {
    for (String origin : List.of("http://localhost:6274", "http://127.0.0.1", "http://[::1]:1")) {
      Reply reply =
          server.send(
              McpTestServer.json(
                  server.as("alice").header("Origin", origin),
                  McpTestServer.bytes(McpTestServer.INITIALIZE)));
      assertThat(reply.status()).as(origin).isEqualTo(200);
    }
  }

  @Test
  void headersThatDoNotFitAreRefusedWithTheirStatus() {
    byte[] ping = McpTestServer.bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    for (String version : List.of("1999-01-01", "2027-01-01", "x")) {
      Reply reply =
          server.send(
              McpTestServer.json(
                  server
                      .as("alice")
                      .header("Mcp-Session-Id", alice.session)
                      .header("MCP-Protocol-Version", version),
                  ping));
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.text()).contains("GWY-152", "\"id\":1", "\"supported\":[\"2026-07-28\"");
      assertThat(reply.error()).isEqualTo(-32022);
    }
    Reply absent =
        server.send(
            McpTestServer.json(server.as("alice").header("Mcp-Session-Id", alice.session), ping));
    assertThat(absent.status()).isEqualTo(200);
    Reply form =
        server.send(
            alice
                .request()
                .header("Content-Type", "text/plain")
                .POST(HttpRequest.BodyPublishers.ofByteArray(ping)));
    assertThat(form.status()).isEqualTo(415);
    Reply accept =
        server.send(
            McpTestServer.json(alice.request().setHeader("Accept", "text/event-stream"), ping));
    assertThat(accept.status()).isEqualTo(406);
    assertThat(accept.text()).contains("GWY-156", "\"id\":1", "-32600");
  }

  @Test
  void whatIsNoMessageIsRefusedAndSaysSoInJsonRpc() {
    List<String> wrong = new ArrayList<>();
    wrong.addAll(
        List.of(
            "",
            "{",
            "[]",
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            "7",
            "null",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            "{\"id\":1,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1e300,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":" + "9".repeat(400) + ",\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":\"" + "x".repeat(257) + "\",\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}x"));
    wrong.add("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + "p".repeat(300) + "\"}");
    wrong.add("[".repeat(5000));
    for (String message : wrong) {
      Reply reply = alice.post(message);
      assertThat(reply.status()).as(message).isEqualTo(400);
      assertThat(reply.text()).contains("GWY-151", "\"jsonrpc\":\"2.0\"");
    }
    Map<String, List<String>> answered =
        Map.of(
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", List.of("-32600", "null"),
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", List.of("-32600", "1"),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":7}", List.of("-32600", "\"a\""),
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", List.of("-32600", "null"),
            "7", List.of("-32600", "null"),
            "{", List.of("-32700", "null"),
            "", List.of("-32700", "null"));
    answered.forEach((message, answer) -> {
      Reply reply = alice.post(message);
      assertThat(reply.error()).as(message).isEqualTo(Long.parseLong(answer.getFirst()));
      assertThat(reply.text()).as(message).contains("\"id\":" + answer.getLast());
    });
    assertThat(alice.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").status()).isEqualTo(202);
    assertThat(alice.post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}").status())
        .isEqualTo(202);
  }

  @Test
  void methodsThatAreNotServedSaySo() {
    for (String method :
        List.of(
            "prompts/list",
            "logging/setLevel",
            "server/nothing",
            "resources/subscribe",
            "sampling/createMessage",
            "tools",
            "")) {
      assertThat(alice.ask(method, "{}").error()).as(method).isEqualTo(-32601);
    }
    Reply wrongParams = alice.ask("initialize", "{\"protocolVersion\":{}}");
    assertThat(wrongParams.error()).isEqualTo(-32602);
    assertThat(wrongParams.text()).doesNotContain("modelcontextprotocol");
    assertThat(wrongParams.header("Mcp-Session-Id")).isEmpty();
  }

  @Test
  void whatIsTooLargeForPolicyIsRefusedUnsigned() {
    Reply reply = alice.call("mail_do", "{\"x\":\"" + "y".repeat(1_100_000) + "\"}");
    assertThat(reply.isError()).isTrue();
    assertThat(reply.said()).contains("GRD-002");
  }
}
