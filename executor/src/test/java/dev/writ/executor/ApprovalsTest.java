package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that wait for people (protocol rule 8). Restarted between every two steps. */
class ApprovalsTest {
  @TempDir Path dir;
  private TestHome home;
  private Envelope request;

  @BeforeEach
  void escalate() {
    home = TestHome.create(dir);
    request = home.ask("alice").tool("pay").sign();
    Answer answer = home.submit(request);
    assertThat(answer.decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(answer.intent()).isEmpty();
    home.restart();
    // Asked again it still waits; nothing is judged and nothing is written.
    assertThat(home.submit(request).decisionEnvelope().id())
        .isEqualTo(answer.decisionEnvelope().id());
    assertThat(home.runState("acme", "run-1").unfinished().pending()).isEqualTo(1);
  }

  @AfterEach
  void stop() {
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private String refused(Envelope approval) {
    long size = home.ledger().treeSize();
    String code = Refused.code(() -> home.kernel().approve(approval));
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    return code;
  }

  private Envelope approval(String by) {
    return home.approval(request, by, Approval.Verdict.APPROVE);
  }

  @Test
  void an_approved_request_is_executed_when_its_holder_submits_it_again() {
    Answer approved = home.approve(request, "rita");
    assertThat(approved.decision().verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(approved.decision().supersedes()).isPresent();
    assertThat(approved.served()).isEmpty();
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.rows("pending")).isEmpty();
    home.restart();
    assertThat(home.submit(request).served()).isPresent();
    home.restart();
    assertThat(home.submit(request).served().orElseThrow().repeated()).isTrue();
    assertThat(home.kinds("acme", "run-1"))
        .containsExactly(
            "run.opened",
            "request.received",
            "decision.made",
            "approval.received",
            "decision.made",
            "intent.issued",
            "effect.dispatched",
            "effect.finished",
            "receipt.signed");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void a_rejection_is_final() {
    assertThat(home.reject(request, "rita").decision().code()).contains("GRD-105");
    home.restart();
    assertThat(home.submit(request).decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(refused(approval("roy"))).isEqualTo("EXE-908");
    assertThat(home.runState("acme", "run-1").unfinished().pending()).isZero();
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
  }

  @Test
  void two_approvals_are_two_people() {
    Envelope twice = home.ask("alice").tool("pay").operation("twice").sign();
    home.submit(twice);
    Envelope first = home.approval(twice, "rita", Approval.Verdict.APPROVE);
    assertThat(home.kernel().approve(first).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    home.restart();
    long size = home.ledger().treeSize();
    assertThat(home.kernel().approve(first).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    home.clock.forward(Duration.ofSeconds(1));
    assertThat(home.approve(twice, "rita").decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(home.approve(twice, "roy").decision().verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(home.submit(twice).served()).isPresent();
  }

  @Test
  void nobody_approves_his_own_request_and_no_stranger_anybodys() {
    home.enrol(TestKeys.trusted("alice-2", KeyRole.APPROVER, Optional.of("acme")));
    assertThat(refused(approval("alice"))).isEqualTo("CAN-053");
    assertThat(refused(approval("unknown"))).isEqualTo("CAN-052");
    assertThat(refused(Forgery.signedBy(approval("rita"), "roy"))).startsWith("GRD-61");
    // An approver of another tenant learns nothing, not even that there is such a request.
    assertThat(refused(approval("otto"))).isEqualTo("EXE-905");
    Envelope nothing =
        home.approval(
            home.ask("alice").tool("pay").nonce("x").sign(), "rita", Approval.Verdict.APPROVE);
    assertThat(refused(nothing)).isEqualTo("EXE-905");
  }

  @Test
  void an_approval_under_another_policy_or_after_its_time_does_not_hold() {
    Envelope early = approval("rita");
    home.activate(TestPolicy.YAML);
    assertThat(refused(early)).isEqualTo("GRD-610");
    Envelope late = approval("rita");
    home.clock.forward(Duration.ofSeconds(3600));
    assertThat(refused(late)).isEqualTo("GRD-611");
    assertThat(home.approve(request, "rita").decision().verdict()).isEqualTo(Verdict.ALLOW);
  }

  @Test
  void what_waited_too_long_is_denied_and_its_age_counts_from_its_reception() {
    home.clock.forward(Duration.ofSeconds(86_401));
    Answer late = home.approve(request, "rita");
    assertThat(late.decision().code()).contains("GRD-308");
    assertThat(JudgeInputs.read(late.decision().inputs()).receivedAt()).isEqualTo(TestHome.START);
    assertThat(home.runState("acme", "run-1").unfinished().pending()).isZero();
  }

  @Test
  void what_was_approved_and_lapsed_is_judged_anew_with_its_approvals() {
    home.approve(request, "rita");
    home.clock.forward(Intent.LIFE_MAX);
    Answer anew = home.submit(request);
    assertThat(anew.decision().verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(anew.served()).isPresent();
    assertThat(JudgeInputs.read(anew.decision().inputs()).approvals()).hasSize(1);
  }

  @Test
  void an_approval_that_ran_out_meanwhile_does_not_count_again() {
    home.approve(request, "rita");
    home.clock.forward(Duration.ofSeconds(3601));
    Answer anew = home.submit(request);
    assertThat(anew.decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(JudgeInputs.read(anew.decision().inputs()).ignored())
        .extracting(i -> i.code())
        .containsExactly("GRD-611");
    assertThat(home.driver.runs()).isEmpty();
  }

  /** An intent is minutes old when it is served: whose word counts is asked then. */
  @Test
  void what_a_key_allowed_is_not_executed_once_it_was_revoked() {
    Answer approved = home.approve(request, "rita");
    home.revoke("rita");
    home.restart();
    assertThat(Refused.code(() -> home.execute(approved, "alice"))).isEqualTo("EXE-107");
    assertThat(home.kinds("acme", "run-1")).endsWith("intent.issued", "effect.refused");
    assertThat(home.submit(request).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.approve(request, "roy").decision().verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(home.submit(request).served()).isPresent();
  }

  /** The decision names one of them. */
  @Test
  void an_approval_with_two_signatures_falls_with_either_key() {
    SigningKey second = SigningKey.mlDsa65(TestKeys.key("rita").verifyingKey().bytes());
    TrustedKey first = TestKeys.trusted("rita", KeyRole.APPROVER, Optional.of("acme"));
    home.enrol(
        new TrustedKey(
            second.verifyingKey(),
            first.role(),
            first.tenant(),
            first.subject(),
            first.notBefore(),
            first.notAfter(),
            Optional.empty()));
    Envelope word = home.approval(request, "rita", Approval.Verdict.APPROVE);
    Answer approved =
        home.kernel()
            .approve(Envelope.sign(Approval.TYPE, word.document(), TestKeys.key("rita"), second));
    home.kernel()
        .change(home.change("key.revoked", JsonValue.object().put("kid", second.kid()).build()));
    home.restart();
    assertThat(Refused.code(() -> home.execute(approved, "alice"))).isEqualTo("EXE-107");
    assertThat(home.submit(request).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(home.driver.runs()).isEmpty();
  }

  @Test
  void who_asks_again_for_what_a_revoked_key_allowed_waits_for_somebody_else() {
    home.approve(request, "rita");
    home.revoke("rita");
    Answer anew = home.submit(request);
    assertThat(anew.decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(JudgeInputs.read(anew.decision().inputs()).ignored())
        .extracting(i -> i.code())
        .containsExactly("CAN-055");
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.runState("acme", "run-1").unfinished().pending()).isEqualTo(1);
  }

  @Test
  void what_was_done_before_a_key_was_revoked_stays_done() {
    home.approve(request, "rita");
    home.submit(request);
    home.revoke("rita");
    assertThat(home.submit(request).served().orElseThrow().repeated()).isTrue();
    assertThat(home.driver.runs()).hasSize(1);
  }

  /** That a document lies in the ledger makes it nobody's evidence who did not bring it. */
  @Test
  void evidence_that_another_request_brought_does_not_count_by_its_digest() {
    Envelope scan =
        Envelope.sign(
            "application/vnd.example.scan+json",
            JsonValue.object().put("clean", true).build(),
            TestKeys.key("ci"));
    List<Digest> named = List.of(scan.id());
    Envelope alices = home.ask("alice").tool("mail").evidence(named).sign();
    Answer brought = home.kernel().submit(alices.toBytes(), List.of(scan));
    assertThat(artifacts(brought)).containsExactly(scan.id());
    Envelope bobs = home.ask("bob").run("bobs").tool("pay").evidence(named).sign();
    assertThat(artifacts(home.submit(bobs))).isEmpty();
    assertThat(artifacts(home.approve(bobs, "rita"))).isEmpty();

    // What came with the request itself counts again when it is approved.
    Envelope own = home.ask("bob").run("bobs").tool("pay").evidence(named).sign();
    home.kernel().submit(own.toBytes(), List.of(scan));
    assertThat(artifacts(home.approve(own, "rita"))).containsExactly(scan.id());
  }

  private static List<Digest> artifacts(Answer answer) {
    return JudgeInputs.read(answer.decision().inputs()).artifacts().stream()
        .map(JudgeInputs.SeenArtifact::id)
        .toList();
  }
}
