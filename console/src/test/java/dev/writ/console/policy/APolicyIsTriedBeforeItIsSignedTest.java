package dev.writ.console.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ReadEvent;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.limit.HttpLimits;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The policy over a socket: who sees it, what is found in a text, and what it would have said. */
class APolicyIsTriedBeforeItIsSignedTest {
  private static final String PEOPLE =
      """
      people:
        - { tenant: acme, subject: rita, roles: [auditor] }
        - { tenant: acme, subject: deputy, roles: [operator] }
        - { tenant: acme, subject: bob, roles: [developer] }
        - { tenant: acme, subject: alice, roles: [viewer, approver] }
        - { tenant: other, subject: eve, roles: [auditor] }
      """;

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway =
        TestGateway.start(
            dir,
            HttpLimits.DEFAULT,
            pipeline ->
                List.of(
                    new PolicySurface(
                        pipeline,
                        tool -> gateway.home.tools.manifest(tool.name(), tool.version()))));
    gateway.home.activate(TestPolicy.YAML + PEOPLE);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private Digest effect(String as, String run, String tool, String params) {
    Envelope request = gateway.home.ask(as).run(run).tool(tool).params(params).sign();
    assertThat(gateway.submit(request).header("Writ-Decision")).isNotEmpty();
    return request.id();
  }

  private Reply post(String as, String path, JsonValue.Obj body) {
    return gateway.send(
        gateway
            .as(as, path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(Jcs.write(body))));
  }

  private Reply check(String text) {
    return post("rita", "/v1/policy-checks", JsonValue.object().put("text", text).build());
  }

  private Reply whatIf(String as, String text) {
    return post(
        as, "/v1/policy-what-ifs", JsonValue.object().put("text", text).put("last", 10).build());
  }

  private static String problem(Reply reply) {
    return reply.status() + " " + reply.string("code");
  }

  private static JsonValue.Obj first(Reply reply, String list) {
    return (JsonValue.Obj) ((JsonValue.Arr) reply.json().get(list)).items().getFirst();
  }

  private static String string(JsonValue.Obj object, String key) {
    return ((JsonValue.Str) object.get(key)).value();
  }

  private String text() {
    return gateway.get("rita", "/v1/policy").string("text");
  }

  @Test
  void thePolicyInForceIsShownAsItsTextAndWhoSignedIt() {
    Reply shown = gateway.get("rita", "/v1/policy");
    assertThat(shown.status()).as(shown.text()).isEqualTo(200);
    assertThat(shown.string("digest")).isEqualTo(gateway.home.policy().digest().toString());
    assertThat(shown.json().get("version")).isEqualTo(JsonValue.of(2));
    assertThat(string(first(shown, "signed_by"), "kid")).isEqualTo(TestKeys.key("owner").kid());
    assertThat(shown.string("text")).contains("writ_policy: 1").doesNotContain("previous:");
  }

  @Test
  void theTextThatIsShownIsThePolicyInForce() {
    JsonValue.Obj found = (JsonValue.Obj) check(text()).json().get("policy");
    assertThat(found.get("in_force")).isEqualTo(JsonValue.of(true));
  }

  @Test
  void theHistoryHasEachActivationTheLatestFirst() {
    Reply history = gateway.get("rita", "/v1/policies");
    List<JsonValue> all = ((JsonValue.Arr) history.json().get("policies")).items();
    assertThat(all).hasSize(2);
    JsonValue.Obj oldest = (JsonValue.Obj) all.getLast();
    assertThat(oldest.get("version")).isEqualTo(JsonValue.of(1));
    assertThat(history.text()).doesNotContain("\"text\"");
    Reply one = gateway.get("rita", "/v1/policies/" + string(oldest, "digest"));
    assertThat(one.string("text")).contains("writ_policy: 1").doesNotContain("people:");
  }

  @Test
  void whatIsNoPolicyOfTheHistoryIsUnknown() {
    Digest request = effect("alice", "run-1", "mail", "{}");
    for (Digest id : List.of(request, Digest.sha256(new byte[1]))) {
      assertThat(problem(gateway.get("rita", "/v1/policies/" + id))).isEqualTo("404 GWY-040");
    }
    assertThat(problem(gateway.get("rita", "/v1/policies/nothing"))).isEqualTo("400 CAN-040");
  }

  @Test
  void whoReadsThePolicyIsInTheLogWherePolicySaysSo() {
    String before = gateway.home.policy().digest().toString();
    gateway.home.activate(
        TestPolicy.YAML + PEOPLE + "reads: [ { tenant: acme, what: [parameters, policy] } ]\n");
    String inForce = gateway.home.policy().digest().toString();
    effect("alice", "run-1", "mail", "{}");
    assertThat(gateway.get("rita", "/v1/policies").status()).isEqualTo(200);
    assertThat(check(TestPolicy.YAML).status()).isEqualTo(200);
    assertThat(gateway.get("alice", "/v1/policy").status()).isEqualTo(403);
    assertThat(gateway.get("eve", "/v1/policy").status()).as("another tenant's").isEqualTo(200);
    assertThat(reads()).isEmpty();
    String tried = text();
    gateway.get("rita", "/v1/policies/" + before);
    assertThat(reads())
        .containsExactly(
            "[POLICY] Thing[run=Optional.empty, id=Optional[" + inForce + "]]",
            "[POLICY] Thing[run=Optional.empty, id=Optional[" + before + "]]");
    assertThat(whatIf("rita", tried).status()).isEqualTo(200);
    assertThat(reads())
        .as("what alice's effect was given is judged")
        .hasSize(3)
        .last()
        .isEqualTo("[PARAMETERS] Thing[run=Optional[run-1], id=Optional.empty]");
    gateway.home.clock.forward(Duration.ofSeconds(60));
    effect("bob", "run-2", "calc", "{}");
    Reply proposed = post("rita", "/v1/policy-proposals", JsonValue.object().build());
    assertThat(proposed.status()).as(proposed.text()).isEqualTo(200);
    assertThat(reads()).as("its calls' two runs, and the policy that it changes").hasSize(6);
    gateway.home.clock.forward(Duration.ofSeconds(60));
    gateway.home.beforeWrite(() -> {
      throw new IllegalStateException("the disk is full");
    });
    for (String path : List.of("/v1/policy", "/v1/policies/" + before)) {
      Reply refused = gateway.get("rita", path);
      assertThat(problem(refused)).isEqualTo("503 GWY-140");
      assertThat(refused.text()).doesNotContain("writ_policy");
    }
    assertThat(problem(whatIf("rita", tried))).isEqualTo("503 GWY-140");
    gateway.home.beforeWrite(() -> {});
  }

  private List<String> reads() {
    return gateway.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()).stream()
        .map(event -> ReadEvent.read(gateway.home.document(event.body()).document()))
        .map(read -> read.what() + " " + read.thing())
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"alice", "narrow"})
  void whoNeitherAuditsNorOperatesNorDevelopsSeesNothing(String who) {
    String digest = gateway.home.policy().digest().toString();
    for (String path : List.of("/v1/policy", "/v1/policies", "/v1/policies/" + digest)) {
      assertThat(problem(gateway.get(who, path))).as(path).isEqualTo("403 GWY-115");
    }
    for (String path : List.of("/v1/policy-checks", "/v1/policy-what-ifs")) {
      assertThat(problem(post(who, path, JsonValue.object().put("text", "a: 1").build())))
          .as(path)
          .isEqualTo("403 GWY-115");
    }
    assertThat(problem(post(who, "/v1/policy-proposals", JsonValue.object().build())))
        .isEqualTo("403 GWY-115");
    assertThat(gateway.send(HttpRequest.newBuilder(gateway.uri("/v1/policy"))).status())
        .isEqualTo(401);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rita", "deputy", "bob", "eve"})
  void auditorsOperatorsAndDevelopersSeeIt(String who) {
    assertThat(gateway.get(who, "/v1/policy").status()).isEqualTo(200);
  }

  @Test
  void aFaultHasItsLineColumnAndField() {
    String text = text().replace("wall_ms: 60000", "wall_ms: soon");
    JsonValue.Obj fault = first(check(text), "faults");
    String before = text.substring(0, text.indexOf("soon"));
    assertThat(string(fault, "code")).isEqualTo("GRD-504");
    assertThat(string(fault, "field")).isEqualTo("/roles/worker/resources/wall_ms");
    assertThat(fault.get("line")).isEqualTo(JsonValue.of(before.lines().count()));
    assertThat(fault.get("column"))
        .isEqualTo(JsonValue.of(before.length() - before.lastIndexOf('\n')));
    assertThat(string(fault, "found")).isEqualTo("not an integer");
  }

  /** The example of spec/policy-desk.md. */
  @Test
  void aFaultIsToldAsTheSpecSays() {
    assertThat(check("writ_policy: 1\nname: demo\nversion: one\nlimits: {}\n").text())
        .startsWith(
            "{\"faults\":[{\"code\":\"GRD-504\",\"column\":10,\"field\":\"/version\","
                + "\"found\":\"not an integer\",\"line\":3,"
                + "\"meaning\":\"a value has another type than it must\","
                + "\"remedy\":\"See spec/policy.md.\"},")
        .contains("/limits/request_age_max_s", "\"field\":\"/roles\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a: [",
        "a: &x 1",
        "a: 1\n---\nb: 2",
        "\u202E: 1",
        "[[[[[[[[",
        "<script>alert(1)</script>",
        "writ_policy: 2",
        "{\"writ_policy\":1,\"writ_policy\":1}"
      })
  void whatIsNoPolicyIsAFaultAndNothingElse(String text) {
    Reply checked = check(text);
    assertThat(checked.status()).as(checked.text()).isEqualTo(200);
    assertThat(string(first(checked, "faults"), "code")).startsWith("GRD-5");
    assertThat(checked.json().get("policy")).isNull();
    assertThat(problem(whatIf("rita", text))).isEqualTo("400 GWY-119");
  }

  @Test
  void aTextOfMoreThanAMegabyteIsAFaultAndAHugeBodyIsNotRead() {
    JsonValue.Obj fault = first(check("#" + "a".repeat(1 << 20)), "faults");
    assertThat(string(fault, "code")).isEqualTo("GRD-508");
    assertThat(fault.get("line")).isNull();
    assertThat(check("a".repeat(5 << 20)).status()).isEqualTo(413);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"text\":1}", "{\"text\":\"a\",\"more\":1}"})
  void bodiesThatCannotBeMeantAreRefused(String body) {
    for (String path : List.of("/v1/policy-checks", "/v1/policy-what-ifs")) {
      Reply reply = post("rita", path, (JsonValue.Obj) Jcs.parse(body.getBytes()));
      assertThat(problem(reply)).startsWith("400 CAN-02");
    }
  }

  @Test
  void casesAreRunAsTheCommandLineRunsThem() {
    String cases =
        """
        writ_policy_cases: 1
        cases:
          - name: mail is sent
            request: { tenant: acme, subject: alice, tool: mail, version: 1.0.0, operation: do, params: {}, resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }, sandbox: box }
            state: { time: "2026-11-21T12:00:00.000Z" }
            expect: { verdict: ALLOW }
          - name: and this case is wrong
            request: { tenant: acme, subject: alice, tool: mail, version: 1.0.0, operation: do, params: { forbidden: 1 }, resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }, sandbox: box }
            state: { time: "2026-11-21T12:00:00.000Z" }
            expect: { verdict: ALLOW }
        """;
    Reply run =
        post(
            "bob",
            "/v1/policy-checks",
            JsonValue.object().put("text", text()).put("cases", cases).build());
    assertThat(run.text()).contains("\"case_faults\":[]");
    List<JsonValue> results = ((JsonValue.Arr) run.json().get("cases")).items();
    assertThat(results)
        .extracting(result -> ((JsonValue.Obj) result).get("passed"))
        .containsExactly(JsonValue.of(true), JsonValue.of(false));
    assertThat(string((JsonValue.Obj) results.getLast(), "code")).isEqualTo("GRD-102");
    Reply faulty =
        post(
            "bob",
            "/v1/policy-checks",
            JsonValue.object().put("text", text()).put("cases", "cases: []").build());
    assertThat(string(first(faulty, "case_faults"), "code")).isEqualTo("GRD-503");
  }

  @Test
  void oneDecisionIsJudgedAgainUnderATextOrAnEarlierPolicy() {
    Digest mail = effect("alice", "run-1", "mail", "{}");
    String path = "/v1/policy-what-ifs/" + mail;
    String stricter = text().replace("!has(params.forbidden)", "has(params.allowed)");
    Reply under = post("rita", path, JsonValue.object().put("text", stricter).build());
    assertThat(under.status()).as(under.text()).isEqualTo(200);
    assertThat(under.string("before") + " " + under.string("after") + " " + under.string("code"))
        .isEqualTo("ALLOW DENY GRD-102");
    assertThat(under.json().get("changes")).isEqualTo(JsonValue.of(true));
    assertThat(under.text())
        .contains("\"outcome\":\"refuse\"", "has(params.allowed)", "\"truth\":\"fails\"");
    Reply before =
        post(
            "rita", path, JsonValue.object().put("policy", gateway.home.policy().digest()).build());
    assertThat(before.string("after")).isEqualTo("ALLOW");
    assertThat(before.json().get("changes")).isEqualTo(JsonValue.of(false));
    JsonValue.Obj text = JsonValue.object().put("text", text()).build();
    for (String stranger : List.of("bob", "eve")) {
      assertThat(problem(post(stranger, path, text))).as(stranger).isEqualTo("404 GWY-040");
    }
    assertThat(problem(post("alice", path, text))).isEqualTo("403 GWY-115");
    assertThat(problem(post("rita", "/v1/policy-what-ifs/" + Digest.sha256(new byte[1]), text)))
        .isEqualTo("404 GWY-040");
    assertThat(problem(post("rita", path, JsonValue.object().build()))).isEqualTo("400 GWY-018");
    assertThat(problem(post("rita", path, JsonValue.object().put("policy", mail).build())))
        .isEqualTo("404 GWY-040");
    assertThat(problem(post("rita", path, JsonValue.object().put("text", "a: [").build())))
        .isEqualTo("400 GWY-119");
  }

  @Test
  void theLatestDecisionsAreJudgedAgain() {
    Digest mail = effect("alice", "run-1", "mail", "{}");
    effect("bob", "run-2", "calc", "{}");
    Digest denied = effect("bob", "run-2", "mail", "{\"forbidden\":1}");
    String stricter =
        text()
            .replace("'!has(params.forbidden)'", "'has(params.forbidden)'")
            .replace("\"!has(params.forbidden)\"", "\"has(params.forbidden)\"");
    Reply found = whatIf("rita", stricter);
    assertThat(found.status()).as(found.text()).isEqualTo(200);
    assertThat(found.json().get("judged")).isEqualTo(JsonValue.of(3));
    List<JsonValue> changes = ((JsonValue.Arr) found.json().get("changes")).items();
    assertThat(changes).hasSize(2);
    JsonValue.Obj latest = (JsonValue.Obj) changes.getFirst();
    assertThat(string(latest, "request")).isEqualTo(denied.toString());
    assertThat(string(latest, "before") + " " + string(latest, "after")).isEqualTo("DENY ALLOW");
    JsonValue.Obj other = (JsonValue.Obj) changes.getLast();
    assertThat(string(other, "request")).isEqualTo(mail.toString());
    assertThat(string(other, "code")).isEqualTo("GRD-102");
    assertThat(whatIf("rita", text()).text()).contains("\"changes\":[]", "\"all\":true");
  }

  /** An expression would tell them of parameters that they do not see. */
  @Test
  void onlyEffectsWhoseContentsTheCallerSeesAreJudgedAgain() {
    effect("alice", "run-1", "mail", "{}");
    effect("bob", "run-2", "mail", "{}");
    String nothing = text().replace("!has(params.forbidden)", "has(params.forbidden)");
    assertThat(whatIf("rita", nothing).json().get("judged")).isEqualTo(JsonValue.of(2));
    Reply developer = whatIf("bob", nothing);
    assertThat(developer.json().get("judged")).isEqualTo(JsonValue.of(1));
    assertThat(developer.text()).contains("\"subject\":\"bob\"").doesNotContain("alice");
    for (String other : List.of("eve", "bob")) {
      assertThat(whatIf(other, nothing).text()).doesNotContain("run-1");
    }
    assertThat(whatIf("eve", nothing).json().get("judged")).isEqualTo(JsonValue.of(0));
  }

  /** What one run did is no history of another. */
  @Test
  void eachRunHasItsOwnHistory() {
    effect("alice", "run-1", "calc", "{}");
    effect("alice", "run-1", "sim", "{}");
    effect("alice", "run-2", "sim", "{}");
    String ordered =
        text()
            .replace(
                "order: []",
                "order: [ { effect: { tool: sim, operation: do },"
                    + " after: { tool: calc, operation: do } } ]");
    assertThat(check(ordered).text()).contains("\"faults\":[]");
    JsonValue.Obj found = whatIf("rita", ordered).json();
    List<JsonValue> changes = ((JsonValue.Arr) found.get("changes")).items();
    assertThat(changes).hasSize(1);
    assertThat(string((JsonValue.Obj) changes.getFirst(), "run")).isEqualTo("run-2");
    assertThat(string((JsonValue.Obj) changes.getFirst(), "code")).isEqualTo("GRD-305");
  }

  @Test
  void asManyDecisionsAreJudgedAsAreAskedFor() {
    for (int i = 0; i < 3; i++) {
      effect("alice", "run-1", "mail", "{\"i\":" + i + "}");
    }
    JsonValue.Obj two = JsonValue.object().put("text", text()).put("last", 2).build();
    Reply found = post("rita", "/v1/policy-what-ifs", two);
    assertThat(found.text()).contains("\"all\":false", "\"judged\":2");
    for (long last : List.of(0L, 1_001L)) {
      JsonValue.Obj wrong = JsonValue.object().put("text", text()).put("last", last).build();
      assertThat(problem(post("rita", "/v1/policy-what-ifs", wrong))).isEqualTo("400 GWY-018");
    }
  }

  @Test
  void aPolicyIsProposedFromCallsThatTheCallerSees() {
    JsonValue.Obj all = JsonValue.object().build();
    assertThat(problem(post("rita", "/v1/policy-proposals", all))).isEqualTo("409 GWY-118");
    effect("alice", "run-1", "mail", "{}");
    effect("bob", "run-2", "calc", "{}");
    Reply proposed = post("rita", "/v1/policy-proposals", all);
    assertThat(proposed.status()).as(proposed.text()).isEqualTo(200);
    assertThat(proposed.text()).contains("\"calls\":2", "\"failed\":[]");
    assertThat(check(proposed.string("text")).text()).contains("\"faults\":[]");
    assertThat(post("bob", "/v1/policy-proposals", all).text()).contains("\"calls\":1");
    assertThat(problem(post("eve", "/v1/policy-proposals", all))).isEqualTo("409 GWY-118");
    JsonValue.Obj other =
        JsonValue.object().putList("runs", List.of("no-such-run"), JsonValue::of).build();
    assertThat(problem(post("rita", "/v1/policy-proposals", other))).isEqualTo("409 GWY-118");
  }

  @Test
  void whatACheckAnswersIsWhatTheOwnerSigns() {
    JsonValue.Obj policy =
        (JsonValue.Obj) check(text().replace("limit: 100000", "limit: 99999")).json().get("policy");
    assertThat(policy.get("in_force")).isEqualTo(JsonValue.of(false));
    JsonValue.Obj next = (JsonValue.Obj) policy.get("next");
    Envelope signed =
        Envelope.sign(SystemState.POLICY_TYPE, next.get("document"), TestKeys.key("owner"));
    assertThat(gateway.post("/v1/policies", signed.toBytes()).status()).isEqualTo(200);
    assertThat(gateway.get("rita", "/v1/policy").string("digest"))
        .isEqualTo(string(next, "digest"));
    assertThat(text()).contains("99999");
  }
}
