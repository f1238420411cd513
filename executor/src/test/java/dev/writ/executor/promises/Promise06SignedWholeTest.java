package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Verdict;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Promise 6: every document is signed whole: no field outside the signature, none ignored by the
 * verifier. Decision, intent and order: promise 1; resolution: promise 4.
 */
class Promise06SignedWholeTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  /**
   * No change of the payload is taken; and signed anew by the right key, a member too many or too
   * few is still refused.
   */
  private void whole(Envelope signed, String signer, Consumer<Envelope> taking) {
    long size = home.ledger().treeSize();
    for (Forgery.Change change : Forgery.changes(signed)) {
      Envelope forged = Forgery.keepingSignatures(signed, change.document());
      assertThat(Refused.code(() -> taking.accept(forged)))
          .as(change.what())
          .containsAnyOf("CAN-", "GRD-003", "GRD-004", "GRD-601");
    }
    JsonValue.Obj more = Forgery.with(signed, "zz_unknown", JsonValue.TRUE);
    assertThat(Refused.code(() -> taking.accept(Forgery.signedBy(signed, more, signer))))
        .containsAnyOf("CAN-021", "GRD-502");
    for (Forgery.Change change : Forgery.changes(signed)) {
      if (change.what().matches("removed /[a-z_]+")) {
        Envelope forged = Forgery.signedBy(signed, change.document(), signer);
        if (!change.what().matches("removed /(idempotency_key|previous)")) {
          assertThat(Refused.code(() -> taking.accept(forged)))
              .as(change.what())
              .containsAnyOf("CAN-020", "GRD-503", "GRD-510", "GRD-511", "GRD-512");
        }
      }
    }
    Envelope two =
        Envelope.signBytes(
            signed.payloadType(),
            signed.payload(),
            TestKeys.key(signer),
            TestKeys.key(signer.equals("bob") ? "alice" : "bob"));
    assertThat(Refused.code(() -> taking.accept(two))).isIn("CAN-053", "CAN-063", "GRD-003");
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    assertThat(home.driver.runs()).isEmpty();
  }

  @Test
  void a_request() {
    Envelope request = home.ask("alice").key("k").sign();
    whole(request, "alice", forged -> home.kernel().submit(forged.toBytes(), List.of()));
    home.submit(request);
  }

  @Test
  void an_approval() {
    Envelope request = home.ask("alice").tool("pay").sign();
    home.submit(request);
    Envelope approval = home.approval(request, "rita", Approval.Verdict.APPROVE);
    whole(approval, "rita", forged -> home.kernel().approve(forged));
    assertThat(home.kernel().approve(approval).decision().verdict()).isEqualTo(Verdict.ALLOW);
  }

  @Test
  void the_closing_of_a_run() {
    home.decide(home.ask("alice").sign());
    Envelope close = home.close("acme", "run-1", "alice");
    whole(close, "alice", forged -> home.kernel().closeRun(forged));
    home.kernel().closeRun(close);
  }

  @Test
  void a_system_change() {
    Envelope change = home.enrolment(TestKeys.trusted("new", KeyRole.AGENT, Optional.of("acme")));
    whole(change, "operator", forged -> home.kernel().change(forged));
    home.kernel().change(change);
  }

  @Test
  void a_policy() {
    Envelope policy = home.signed(TestPolicy.after(home.policy(), TestPolicy.YAML, home.tools));
    whole(policy, "owner", forged -> home.kernel().activate(forged));
    home.kernel().activate(policy);
    assertThat(home.policy().version()).isEqualTo(2);
  }

  /** What the executor signs is verified by whoever reads it. */
  @Test
  void receipts_refusals_and_closings() {
    Answer served = home.submit(home.ask("alice"));
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    home.prohibit("mail", "1.0.0");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-303");
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    read(served.served().orElseThrow().envelope(), Receipt.TYPE, Receipt::read);
    read(body(EventKind.EFFECT_REFUSED), Refusal.TYPE, Refusal::read);
    read(body(EventKind.RUN_CLOSED), RunClosing.TYPE, RunClosing::read);
  }

  private Envelope body(String kind) {
    return home.document(
        home.log().stream().filter(e -> e.kind().equals(kind)).findFirst().orElseThrow().body());
  }

  private void read(Envelope signed, String type, Function<JsonValue, ?> reader) {
    var trust = home.kernel().system().trust();
    trust.verify(signed, type, TestHome.START);
    reader.apply(signed.document());
    for (Forgery.Change change : Forgery.changes(signed)) {
      Envelope forged = Forgery.keepingSignatures(signed, change.document());
      assertThat(Refused.code(() -> trust.verify(forged, type, TestHome.START)))
          .as(change.what())
          .isEqualTo("CAN-060");
      if (change.what().startsWith("added to ")) {
        assertThat(Refused.code(() -> reader.apply(change.document()))).isEqualTo("CAN-021");
      }
    }
    assertThat(
            Refused.code(() -> trust.verify(Forgery.called(signed, "x/y"), type, TestHome.START)))
        .isEqualTo("CAN-061");
  }
}
