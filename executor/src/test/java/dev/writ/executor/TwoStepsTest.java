package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.Guardian;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deciding and executing apart: who may, what lapses, and what is written when it does. */
class TwoStepsTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private static long reserved(Decision decision) {
    return JudgeInputs.read(decision.inputs()).balances().stream()
        .filter(b -> b.budget().equals("calls"))
        .findFirst()
        .orElseThrow()
        .reserved();
  }

  @ParameterizedTest
  @ValueSource(strings = {"calc", "mail"})
  void the_holder_executes_what_was_decided(String tool) {
    Answer decided = home.decide(home.ask("alice").tool(tool).sign());
    assertThat(decided.served()).isEmpty();
    assertThat(home.kinds("acme", "run-1")).endsWith("intent.issued");
    home.restart();
    Served served = home.execute(decided, "alice");
    assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(home.kinds("acme", "run-1")).hasSize(7);
  }

  /** A request is its payload; another key of the subject signs the same one. */
  @Test
  void what_a_key_was_answered_is_not_answered_to_another_key_of_its_subject() {
    SigningKey second = TestKeys.key("alice's second key");
    TrustedKey first = TestKeys.trusted("alice", KeyRole.AGENT, Optional.of("acme"));
    home.enrol(
        new TrustedKey(
            second.verifyingKey(),
            KeyRole.AGENT,
            first.tenant(),
            "alice",
            first.notBefore(),
            first.notAfter(),
            Optional.empty()));
    Envelope request = home.ask("alice").tool("mail").sign();
    Envelope same = Envelope.signBytes(request.payloadType(), request.payload(), second);
    assertThat(same.id()).isEqualTo(request.id());
    home.submit(request);
    assertThat(Refused.code(() -> home.submit(same))).isEqualTo("EXE-106");
    assertThat(home.submit(request).served()).isPresent();
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void a_role_that_policy_names_executes_for_another_and_nobody_else_does() {
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    assertThat(Refused.code(() -> home.execute(decided, "bob"))).isEqualTo("EXE-106");
    Served served = home.execute(decided, "deputy");
    assertThat(served.receipt().scope().subject()).isEqualTo("alice");
    assertThat(Refused.code(() -> home.execute(decided, "bob"))).isEqualTo("EXE-106");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void a_policy_activated_in_between_voids_the_decision_once_and_the_request_is_judged_anew() {
    TestRequest request = home.ask("alice").tool("mail");
    Answer decided = home.decide(request.sign());
    home.activate(TestPolicy.YAML);
    home.clock.forward(Duration.ofSeconds(1));
    for (int i = 0; i < 3; i++) {
      assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-201");
      home.restart();
    }
    assertThat(home.kinds("acme", "run-1")).containsOnlyOnce("effect.refused");
    Refusal refusal =
        Refusal.read(home.document(home.last("acme", "run-1").orElseThrow().body()).document());
    assertThat(refusal.stage()).isEqualTo("snapshot");
    assertThat(refusal.code()).isEqualTo("EXE-201");
    assertThat(refusal.intent()).isEqualTo(decided.intent().orElseThrow().id());
    Answer anew = home.submit(request);
    assertThat(anew.decision().supersedes()).contains(decided.decisionEnvelope().id());
    assertThat(reserved(anew.decision())).isZero();
    assertThat(anew.served()).isPresent();
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void an_expired_intent_is_refused_once_and_its_reservation_goes_back() {
    TestRequest request = home.ask("alice").tool("mail");
    Answer decided = home.decide(request.sign());
    assertThat(reserved(home.decide(home.ask("alice").run("r2").sign()).decision())).isEqualTo(1);
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-107");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-107");
    assertThat(home.kinds("acme", "run-1")).containsOnlyOnce("effect.refused");
    // The other request's is still reserved.
    assertThat(reserved(home.decide(home.ask("alice").run("r3").sign()).decision())).isEqualTo(1);
    Answer anew = home.submit(request);
    assertThat(anew.served()).isPresent();
    assertThat(JudgeInputs.read(anew.decision().inputs()).receivedAt()).isEqualTo(TestHome.START);
  }

  /** Known to have been wrong: the age of a request counts from when it was received. */
  @Test
  void a_fresh_effect_that_is_refused_keeps_the_time_of_its_reception() {
    TestRequest request = home.ask("alice").tool("mail");
    home.clock.stepping(Duration.ofMillis(3));
    home.driver.refusesToPrepare(new IllegalStateException("no"));
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-308");
    assertThat(home.kinds("acme", "run-1"))
        .containsExactly(
            "run.opened", "request.received", "decision.made", "intent.issued", "effect.refused");
    Instant received = home.events("acme", "run-1").get(1).at();
    RequestRow row =
        RequestRow.parse(home.ledger().get(Tables.REQUEST, Tables.key(request.id())).orElseThrow());
    assertThat(row.receivedAt()).isEqualTo(received);
    assertThat(row.state()).isEqualTo(RequestRow.State.LAPSED);
    home.driver.refusesToPrepare(null);
    Answer anew = home.submit(request);
    assertThat(reserved(anew.decision())).isZero();
    assertThat(JudgeInputs.read(anew.decision().inputs()).receivedAt()).isEqualTo(received);
    assertThat(anew.served()).isPresent();
  }

  @Test
  void a_decision_that_cannot_be_written_takes_nothing() {
    Answer first = home.submit(home.ask("alice").tool("mail"));
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-901");
    Answer next = home.decide(home.ask("alice").run("r2").sign());
    assertThat(reserved(next.decision())).isZero();
    assertThat(home.submit(first(first)).served()).isPresent();
  }

  private Envelope first(Answer answer) {
    return home.document(answer.request());
  }

  @Test
  void a_tool_prohibited_in_between_is_looked_at_live() {
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    home.prohibit("mail", "1.0.0");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-303");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-303");
    home.restart();
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-303");
    assertThat(home.submit(home.ask("alice").tool("calc")).served()).isPresent();
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void another_tool_registered_in_between_voids_nothing() {
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    home.tools.register(TestTools.manifest("more", Determinism.PURE));
    assertThat(home.execute(decided, "alice").receipt().status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void each_effect_has_a_seed_of_its_own_that_follows_from_run_and_decision() {
    Answer one = home.submit(home.ask("alice").tool("mail"));
    Answer two = home.submit(home.ask("alice").tool("mail"));
    String runSeed = home.runState("acme", "run-1").seed();
    assertThat(home.events("acme", "run-1").getFirst().prngSeed()).contains(runSeed);
    for (Answer answer : List.of(one, two)) {
      String seed =
          Guardian.effectSeed(HexFormat.of().parseHex(runSeed), answer.decisionEnvelope().id());
      assertThat(answer.served().orElseThrow().receipt().prngSeed()).isEqualTo(seed);
      assertThat(home.log().stream().filter(e -> e.prngSeed().filter(seed::equals).isPresent()))
          .extracting(e -> e.kind())
          .containsExactly("intent.issued", "effect.dispatched");
    }
    assertThat(home.driver.runs().get(0).invocation().seed())
        .isNotEqualTo(home.driver.runs().get(1).invocation().seed());
    assertThat(home.driver.runs().get(1).invocation().seed())
        .isEqualTo(HexFormat.of().parseHex(two.served().orElseThrow().receipt().prngSeed()));
  }

  @Test
  void dropped_output_is_in_the_first_answer_alone() {
    TestRequest request = home.ask("alice").tool("mail").dropOutput();
    Served first = home.submit(request).served().orElseThrow();
    assertThat(first.output()).isPresent();
    assertThat(first.receipt().retained()).isFalse();
    Served again = home.submit(request).served().orElseThrow();
    assertThat(again.envelope().toBytes()).isEqualTo(first.envelope().toBytes());
    assertThat(again.output()).isEmpty();
    assertThat(home.ledger().hasBlob(first.receipt().output().orElseThrow().digest())).isFalse();
    assertThat(((JsonValue.Obj) first.envelope().document()).get("retained"))
        .isEqualTo(JsonValue.FALSE);
  }

  @Test
  void the_tool_sees_the_recorded_clock_and_nothing_else() {
    home.clock.stepping(Duration.ofMillis(5));
    home.submit(home.ask("alice").tool("mail"));
    Instant dispatched =
        home.events("acme", "run-1").stream()
            .filter(e -> e.kind().equals("effect.dispatched"))
            .findFirst()
            .orElseThrow()
            .at();
    assertThat(home.driver.runs().getFirst().invocation().time()).isEqualTo(dispatched);
  }
}
