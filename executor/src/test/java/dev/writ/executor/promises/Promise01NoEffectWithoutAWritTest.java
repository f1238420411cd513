package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestSetup;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.RunId;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Promise 1: no effect is dispatched without a verified decision (ALLOW), a verified, unexpired
 * intent, and an effect whose digest both name. A forger tries, with everybody's keys.
 */
class Promise01NoEffectWithoutAWritTest {
  @TempDir Path dir;
  @TempDir Path otherDir;

  private TestHome home;
  private Envelope request;
  private Answer decided;
  private Envelope decision;
  private Envelope intent;

  @BeforeEach
  void decide() {
    home = TestHome.create(dir);
    request = home.ask("alice").tool("mail").sign();
    decided = home.decide(request);
    decision = decided.decisionEnvelope();
    intent = decided.intent().orElseThrow();
  }

  @AfterEach
  void nothing_ran_until_the_true_writ_was_served() {
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.rows("dispatched")).isEmpty();
    assertThat(home.rows("served")).isEmpty();
    home.close();
  }

  /**
   * Twice: as this process holds them, which knows the signatures that it made itself, and read
   * from their bytes, as from a caller, where every signature is verified.
   */
  private String execute(Envelope d, Envelope i) {
    String known = serve(d, i);
    assertThat(serve(Envelope.parse(d.toBytes()), Envelope.parse(i.toBytes()))).isEqualTo(known);
    return known;
  }

  private String serve(Envelope d, Envelope i) {
    return Refused.code(() -> home.kernel().execute(d, i, home.order(i.id(), "alice")));
  }

  @Test
  void every_change_of_a_signed_decision_breaks_its_signature() {
    List<Forgery.Change> changes = Forgery.changes(decision);
    assertThat(changes).hasSizeGreaterThan(60);
    for (Forgery.Change change : changes) {
      assertThat(execute(Forgery.keepingSignatures(decision, change.document()), intent))
          .as(change.what())
          .containsAnyOf("EXE-101", "CAN-");
    }
  }

  @Test
  void every_change_of_a_signed_intent_breaks_its_signature() {
    for (Forgery.Change change : Forgery.changes(intent)) {
      assertThat(execute(decision, Forgery.keepingSignatures(intent, change.document())))
          .as(change.what())
          .containsAnyOf("EXE-103", "EXE-104", "EXE-108", "EXE-112", "CAN-", "GRD-001");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"alice", "executor", "operator", "owner", "eve", "log", "unknown"})
  void another_key_cannot_sign_it(String key) {
    assertThat(execute(Forgery.signedBy(decision, key), intent)).isEqualTo("EXE-101");
    assertThat(execute(decision, Forgery.signedBy(intent, key))).isEqualTo("EXE-103");
    for (Forgery.Change change : Forgery.changes(intent)) {
      execute(decision, Forgery.signedBy(intent, change.document(), key));
    }
  }

  /** The Guardian's key alone is not enough: this ledger must have issued it (protocol rule 25). */
  @Test
  void what_the_guardian_key_signs_elsewhere_is_not_issued_here() {
    for (Forgery.Change change : Forgery.changes(decision)) {
      assertThat(execute(Forgery.signedBy(decision, change.document(), "guardian"), intent))
          .as(change.what())
          .containsAnyOf("EXE-102", "EXE-104", "CAN-");
    }
    for (Forgery.Change change : Forgery.changes(intent)) {
      assertThat(execute(decision, Forgery.signedBy(intent, change.document(), "guardian")))
          .as(change.what())
          .containsAnyOf("EXE-104", "EXE-105", "EXE-106", "EXE-108", "EXE-111", "EXE-112", "CAN-");
    }
  }

  @Test
  void a_decision_and_its_own_intent_forged_together_were_not_issued_either() {
    for (Forgery.Change change : Forgery.changes(decision)) {
      Envelope forged = Forgery.signedBy(decision, change.document(), "guardian");
      Envelope fitting =
          Forgery.signedBy(
              intent,
              Forgery.with(intent, "decision", JsonValue.of(forged.id().toString())),
              "guardian");
      assertThat(execute(forged, fitting))
          .as(change.what())
          .containsAnyOf("EXE-102", "EXE-104", "EXE-111", "CAN-");
    }
  }

  @Test
  void two_writs_cannot_be_mixed() {
    Answer other = home.decide(home.ask("alice").tool("mail").params("{\"n\":2}").sign());
    assertThat(execute(decision, other.intent().orElseThrow())).isEqualTo("EXE-104");
    assertThat(execute(other.decisionEnvelope(), intent)).isEqualTo("EXE-104");
  }

  @Test
  void a_document_of_another_type_is_not_taken_for_one() {
    assertThat(execute(intent, intent)).isEqualTo("EXE-004");
    assertThat(execute(Forgery.called(intent, Decision.TYPE), intent))
        .containsAnyOf("CAN-020", "CAN-021");
    assertThat(execute(Forgery.called(decision, Receipt.TYPE), intent)).isEqualTo("EXE-004");
    assertThat(execute(decision, Forgery.called(intent, Receipt.TYPE))).isEqualTo("EXE-004");
  }

  @Test
  void an_intent_ends_to_the_millisecond() {
    Instant end = Intent.read(intent.document()).expiresAt();
    assertThat(end).isEqualTo(TestHome.START.plus(Intent.LIFE_MAX));
    home.clock.set(end);
    assertThat(execute(decision, intent)).isEqualTo("EXE-107");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"forbidden\":true}", "{}"})
  void a_denial_or_escalation_is_no_writ(String params) {
    Envelope asked =
        home.ask("alice").tool(params.equals("{}") ? "pay" : "mail").params(params).sign();
    Answer answer = home.decide(asked);
    assertThat(answer.decision().verdict()).isNotEqualTo(Verdict.ALLOW);
    assertThat(answer.intent()).isEmpty();
    JsonValue.Obj forged =
        Forgery.with(intent, "decision", JsonValue.of(answer.decisionEnvelope().id().toString()));
    Envelope own =
        Forgery.signedBy(
            intent,
            Forgery.with(
                Forgery.signedBy(intent, forged, "guardian"),
                "request",
                JsonValue.of(asked.id().toString())),
            "guardian");
    assertThat(execute(answer.decisionEnvelope(), own)).isEqualTo("EXE-102");
  }

  @Test
  void a_writ_of_another_ledger_is_for_another_audience() {
    try (TestHome other = TestSetup.in(otherDir).origin("writ.example/other").seed(9).found()) {
      Answer foreign = other.decide(request);
      assertThat(execute(foreign.decisionEnvelope(), foreign.intent().orElseThrow()))
          .isEqualTo("EXE-105");
      Answer unknown = other.decide(other.ask("alice").nonce("else").tool("mail").sign());
      assertThat(execute(unknown.decisionEnvelope(), unknown.intent().orElseThrow()))
          .isEqualTo("EXE-108");
      assertThat(other.driver.runs()).isEmpty();
    }
  }

  @Test
  void a_writ_of_an_earlier_incarnation_is_void() {
    home.stop();
    assertThat(Ledger.nextIncarnation(home.ledgerConfig())).isEqualTo(2);
    home.restart();
    assertThat(execute(decision, intent)).isEqualTo("EXE-105");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bob", "nobody", "eve"})
  void a_stranger_cannot_order_it(String stranger) {
    assertThat(
            Refused.code(
                () -> home.kernel().execute(decision, intent, home.order(intent.id(), stranger))))
        .containsAnyOf("EXE-104", "EXE-106");
  }

  @Test
  void an_order_is_for_one_intent_one_tenant_and_a_short_time() {
    Answer other = home.decide(home.ask("alice").tool("mail").params("{\"n\":2}").sign());
    Envelope elsewhere = home.order(other.intent().orElseThrow().id(), "alice");
    assertThat(Refused.code(() -> home.kernel().execute(decision, intent, elsewhere)))
        .isEqualTo("EXE-104");
    Instant now = home.clock.instant();
    assertThat(ordered("other", now)).isEqualTo("EXE-104");
    assertThat(ordered("acme", now.minusMillis(2001))).isEqualTo("EXE-112");
    assertThat(ordered("acme", now.plusMillis(2001))).isEqualTo("EXE-112");
    Envelope order = home.order(intent.id(), "alice");
    for (Forgery.Change change : Forgery.changes(order)) {
      Envelope forged = Forgery.keepingSignatures(order, change.document());
      assertThat(Refused.code(() -> home.kernel().execute(decision, intent, forged)))
          .as(change.what())
          .isEqualTo("CAN-060");
    }
  }

  private String ordered(String tenant, Instant at) {
    Envelope order =
        Envelope.sign(
            ExecutionOrder.TYPE,
            new ExecutionOrder(tenant, intent.id(), at).toJson(),
            TestKeys.key("alice"));
    return Refused.code(() -> home.kernel().execute(decision, intent, order));
  }

  @Test
  void another_effect_under_a_true_writ_is_refused_and_a_part_of_a_writ_is_none() {
    List<SafeExecutor> executors = new ArrayList<>();
    home.restartWith(executor -> {
      executors.add(executor);
      return executor;
    });
    Request asked = Request.read(request.document());
    for (Forgery.Change change : Forgery.changes(request)) {
      if (change.what().matches(".*/(effect/.*|tenant|run|subject)")) {
        Optional<Request> forged = readable(change.document());
        forged.ifPresent(f ->
            assertThat(
                    serve(
                        executors.getFirst(),
                        Optional.of(decision),
                        Optional.of(intent),
                        Optional.of(f)))
                .as(change.what())
                .isEqualTo("EXE-104"));
      }
    }
    SafeExecutor executor = executors.getFirst();
    Optional<Envelope> d = Optional.of(decision);
    Optional<Envelope> i = Optional.of(intent);
    Optional<Request> r = Optional.of(asked);
    assertThat(serve(executor, Optional.empty(), i, r)).isEqualTo("EXE-001");
    assertThat(serve(executor, d, Optional.empty(), r)).isEqualTo("EXE-002");
    assertThat(serve(executor, d, i, Optional.empty())).isEqualTo("EXE-003");
  }

  private static Optional<Request> readable(JsonValue.Obj document) {
    try {
      return Optional.of(Request.read(document));
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  /** What was kept of one writ stands in for no other envelope, even one with its signatures. */
  @Test
  void documents_that_are_kept_of_a_true_writ_vouch_for_no_other_envelope() {
    List<SafeExecutor> executors = new ArrayList<>();
    home.restartWith(executor -> {
      executors.add(executor);
      return executor;
    });
    PendingWrites kept = keeping(decision, intent);
    Optional<Request> asked = Optional.of(Request.read(request.document()));
    for (Forgery.Change change : Forgery.changes(decision)) {
      Envelope forged = Forgery.keepingSignatures(decision, change.document());
      assertThat(serve(executors.getFirst(), Optional.of(forged), Optional.of(intent), asked, kept))
          .as(change.what())
          .containsAnyOf("EXE-101", "CAN-");
    }
    for (Forgery.Change change : Forgery.changes(intent)) {
      Envelope forged = Forgery.keepingSignatures(intent, change.document());
      assertThat(
              serve(executors.getFirst(), Optional.of(decision), Optional.of(forged), asked, kept))
          .as(change.what())
          .containsAnyOf("EXE-103", "EXE-104", "CAN-", "GRD-001");
    }
  }

  private static PendingWrites keeping(Envelope decision, Envelope intent) {
    PendingWrites.Issued issued =
        new PendingWrites.Issued(
            new DocumentSigner.Signed<>(Decision.read(decision.document()), decision),
            new DocumentSigner.Signed<>(Intent.read(intent.document()), intent));
    return new PendingWrites() {
      @Override
      public void writeTo(RunTurn turn) {}

      @Override
      public Optional<Issued> issued() {
        return Optional.of(issued);
      }
    };
  }

  private String serve(
      SafeExecutor executor, Optional<Envelope> d, Optional<Envelope> i, Optional<Request> asked) {
    return serve(executor, d, i, asked, PendingWrites.nothing());
  }

  private String serve(
      SafeExecutor executor,
      Optional<Envelope> d,
      Optional<Envelope> i,
      Optional<Request> asked,
      PendingWrites pending) {
    Runs runs = new Runs((Ledger) home.ledger(), new SeededRandom(5));
    try (Runs.Borrowed run = runs.borrow(new RunId("acme", "run-1"))) {
      return Refused.code(() ->
          executor.serve(
              new IntentSubmission(
                  d,
                  i,
                  asked,
                  home.kernel().system().trust().key(TestKeys.key("alice").kid()).orElseThrow(),
                  pending,
                  run,
                  false),
              home.kernel().system().trust(),
              home.policy()));
    }
  }
}
