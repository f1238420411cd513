package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.ClientSettings;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Verdict;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Attacks on {@code POST /v1/vouched-effects} (spec/client.md, 2 and 3), raw and over the client.
 */
class AVouchedEffectIsItsCallersAloneTest {
  private static final String PATH = "/v1/vouched-effects";

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway =
        TestGateway.start(
            dir,
            HttpLimits.DEFAULT,
            pipeline ->
                new ArrayList<>(
                    List.of(
                        new VouchedSurface(
                            pipeline,
                            ref -> gateway.home.tools.manifest(ref.name(), ref.version())))));
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private Reply ask(String name, String body) {
    return gateway.send(
        gateway
            .as(name, PATH)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.replace('\'', '"'))));
  }

  private Reply again(String name, String id) {
    return gateway.send(
        gateway.as(name, PATH + "/" + id).POST(HttpRequest.BodyPublishers.noBody()));
  }

  private static String code(Reply reply) {
    return reply.string("code");
  }

  private WritClient client(String name) {
    return new WritClient(
        URI.create(gateway.server.url()),
        new WritClient.Token(TestKeys.TENANT, "alice", TestGateway.tokenOf(name)),
        new WritClient.Pinned(gateway.home.kernel().system().trust(), TestHome.ORIGIN),
        ClientSettings.usual());
  }

  private static EffectDraft draft(String tool, String operation, String params) {
    return Effect.of(tool)
        .operation(operation)
        .params((JsonValue.Obj) Jcs.parse(params.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void only_its_subject_submits_it_again_and_nobody_learns_whether_it_is_there() {
    Reply waiting = ask("alice", "{'run':'r','effect':{'tool':'pay','operation':'do'}}");
    assertThat(waiting.string("verdict")).isEqualTo("ESCALATE");
    String id = waiting.header("Writ-Request");
    String unknown = Digest.sha256(new byte[] {1}).toString();
    for (String stranger : List.of("bob", "deputy", "rita", "eve")) {
      Reply foreign = again(stranger, id);
      Reply none = again(stranger, unknown);
      assertThat(code(foreign)).as(stranger).isEqualTo("GWY-040");
      assertThat(foreign.status()).isEqualTo(none.status());
      assertThat(foreign.text().replace(id, unknown).replaceAll("trace_id\":\"\\w+", ""))
          .isEqualTo(none.text().replaceAll("trace_id\":\"\\w+", ""));
    }
    assertThat(again("alice", id).string("verdict")).isEqualTo("ESCALATE");
    assertThat(gateway.home.driver.runs()).isEmpty();
  }

  @Test
  void a_key_in_the_header_that_the_body_does_not_name_is_not_passed_over() {
    String body = "{%s\"run\":\"r\",\"effect\":{\"tool\":\"calc\",\"operation\":\"do\"}}";
    for (String named : List.of("", "\"idempotency_key\":\"another\",")) {
      Reply refused = keyed(body.formatted(named));
      assertThat(refused.status()).isEqualTo(422);
      assertThat(code(refused)).isEqualTo("GWY-031");
    }
    assertThat(gateway.home.driver.runs()).isEmpty();
    for (int i = 0; i < 2; i++) {
      Reply same = keyed(body.formatted("\"idempotency_key\":\"task-17\","));
      assertThat(same.string("verdict")).as(same.text()).isEqualTo("ALLOW");
    }
    assertThat(gateway.home.driver.runs()).hasSize(1);
  }

  private Reply keyed(String body) {
    return gateway.send(
        gateway
            .as("alice", PATH)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "task-17")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  @Test
  void what_an_agent_signed_itself_or_another_surface_vouched_for_is_not_submitted_here() {
    Reply own = gateway.submit(gateway.home.ask("alice").sign());
    String receipt = own.header("Writ-Receipt");
    for (String id : List.of(own.header("Writ-Request"), receipt, own.header("Writ-Decision"))) {
      assertThat(code(again("alice", id))).as(id).isEqualTo("GWY-040");
    }
    assertThat(gateway.home.driver.runs()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "sha256:", "..%2f..%2fv1", "sha256:%00", "SHA256:AA", "sha256:zz", "*"})
  void an_id_that_is_none_is_refused_before_anything_is_looked_up(String id) {
    Reply refused = again("alice", id);
    assertThat(refused.status()).isBetween(400, 499);
    assertThat(gateway.failures).isEmpty();
  }

  @Test
  void a_narrowed_credential_neither_continues_what_the_whole_one_asked_nor_the_other_way() {
    String body = "{'run':'r','idempotency_key':'KEY','effect':{'tool':'pay','operation':'do'}}";
    String whole = ask("alice", body.replace("KEY", "a")).header("Writ-Request");
    String narrow = ask("narrow", body.replace("KEY", "b")).header("Writ-Request");
    assertThat(code(again("narrow", whole))).isEqualTo("GWY-022");
    assertThat(code(again("alice", narrow))).isEqualTo("GWY-022");
    assertThat(again("narrow", narrow).string("verdict")).isEqualTo("ESCALATE");
  }

  @Test
  void
      under_a_key_a_repeat_is_the_request_that_waits_and_after_its_approval_that_one_is_executed() {
    String body = "{'run':'r','idempotency_key':'KEY','effect':{'tool':'pay','operation':'do'}}";
    String first = ask("alice", body).header("Writ-Request");
    assertThat(ask("alice", body).header("Writ-Request")).isEqualTo(first);
    assertThat(ask("alice", body.replace("KEY", "b")).header("Writ-Request")).isNotEqualTo(first);
    assertThat(ask("narrow", body).header("Writ-Request")).isNotEqualTo(first);
    assertThat(ask("alice", body.replace("'run':'r'", "'run':'s'")).header("Writ-Request"))
        .isNotEqualTo(first);
    gateway.home.approve(
        gateway.home.kernel().ledger().document(Digest.parse(first)).orElseThrow(), "rita");
    Reply done = ask("alice", body);
    assertThat(done.header("Writ-Request")).isEqualTo(first);
    assertThat(done.string("receipt_id")).isEqualTo(ask("alice", body).string("receipt_id"));
    assertThat(gateway.home.driver.runs()).hasSize(1);
  }

  @Test
  void without_a_key_each_call_is_a_request_of_its_own() {
    String body = "{'run':'r','effect':{'tool':'pay','operation':'do'}}";
    assertThat(ask("alice", body).header("Writ-Request"))
        .isNotEqualTo(ask("alice", body).header("Writ-Request"));
  }

  @ParameterizedTest
  @CsvSource({"bob,GRD-008", "deputy,GRD-008", "rita,GRD-006", "eve,GWY-030"})
  void it_vouches_for_nobody_whom_policy_does_not_name_nor_in_a_tenant_without_a_key(
      String name, String code) {
    Reply refused = ask(name, "{'run':'r','effect':{'tool':'calc','operation':'do'}}");
    assertThat(code(refused)).isEqualTo(code);
    assertThat(gateway.home.driver.runs()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'run':'r','tenant':'other','effect':{'tool':'calc'}}",
        "{'run':'r','subject':'bob','effect':{'tool':'calc'}}",
        "{'run':'r','origin':{'surface':'test'},'effect':{'tool':'calc'}}",
        "{'run':'r','effect':{'tool':'calc','tenant':'other'}}",
        "{'run':'r','roles':['stand-in'],'effect':{'tool':'calc'}}",
        "{'run':'r','run':'s','effect':{'tool':'calc'}}",
        "{'run':'r'}",
        "[]",
        "",
      })
  void a_caller_states_its_effect_and_nothing_about_who_it_is(String body) {
    Reply refused = ask("alice", body);
    assertThat(refused.status()).isBetween(400, 499);
    assertThat(code(refused)).startsWith("CAN-");
    assertThat(gateway.home.driver.runs()).isEmpty();
  }

  @Test
  void a_key_is_of_one_content_and_of_one_subject() {
    String body =
        "{'run':'r','idempotency_key':'k','effect':{'tool':'calc','operation':'do','params':{'n':1}}}";
    Reply first = ask("alice", body);
    Reply same = ask("alice", body);
    Reply inAnotherRun = ask("alice", body.replace("'run':'r'", "'run':'s'"));
    for (Reply stored : List.of(same, inAnotherRun)) {
      assertThat(stored.string("receipt_id")).isEqualTo(first.string("receipt_id"));
    }
    for (String other : List.of(body.replace("'n':1", "'n':2"), body.replace("calc", "mail"))) {
      assertThat(code(ask("alice", other))).as(other).isEqualTo("EXE-110");
    }
    assertThat(gateway.home.driver.runs()).hasSize(1);
  }

  @Test
  void the_client_meets_the_same_refusals_and_believes_no_answer_to_another_effect() {
    try (WritClient alice = client("alice");
        WritClient narrow = client("narrow");
        WritClient bob = client("bob")) {
      WritClient.Terms terms = WritClient.Terms.in("r").key("k");
      VerifiedOutcome first = alice.call(draft("calc", "do", "{\"n\":1}"), terms);
      assertThat(first.decision().verdict()).isEqualTo(Verdict.ALLOW);
      assertThatThrownBy(() -> alice.call(draft("calc", "do", "{\"n\":2}"), terms))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("EXE-110");
      VerifiedOutcome waiting =
          alice.call(draft("pay", "do", "{}"), WritClient.Terms.in("r").key("p"));
      assertThat(waiting.decision().verdict()).isEqualTo(Verdict.ESCALATE);
      assertThatThrownBy(() -> narrow.again(waiting)).hasMessageContaining("GWY-022");
      assertThatThrownBy(() -> bob.again(waiting)).hasMessageContaining("GWY-040");
      assertThatThrownBy(
              () -> bob.call(draft("calc", "do", "{}"), WritClient.Terms.in("r").key("b")))
          .hasMessageContaining("GRD-008");
    }
    assertThat(gateway.home.driver.runs()).hasSize(1);
    assertThat(gateway.failures).isEmpty();
  }
}
