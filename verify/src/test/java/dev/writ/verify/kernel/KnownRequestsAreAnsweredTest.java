package dev.writ.verify.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.verify.testing.Audited;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What became of a request is told to who brings its bytes, whatever happened since. */
class KnownRequestsAreAnsweredTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void make() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void close() {
    assertThat(Audited.report(home).problems()).isEmpty();
    home.close();
  }

  private void answersAgain(Envelope request, Answer first) {
    int runs = home.driver.runs().size();
    long size = home.ledger().treeSize();
    for (int start = 0; start < 2; start++) {
      Answer again = home.submit(request);
      assertThat(again.decisionEnvelope().toBytes()).isEqualTo(first.decisionEnvelope().toBytes());
      assertThat(again.served().map(s -> s.envelope().id()))
          .isEqualTo(first.served().map(s -> s.envelope().id()));
      home.restart();
    }
    assertThat(home.driver.runs()).hasSize(runs);
    assertThat(home.ledger().treeSize()).isEqualTo(size);
  }

  @Test
  void days_later_when_its_nonce_was_used_again() {
    Envelope request = home.ask("alice").nonce("once").sign();
    Answer first = home.submit(request);
    home.clock.forward(Duration.ofDays(3));
    home.restart();
    home.submit(home.ask("alice").nonce("once").params("{\"other\":1}"));
    answersAgain(request, first);
    assertThat(home.submit(request).served().orElseThrow().output()).isPresent();
  }

  @Test
  void under_a_policy_that_would_not_let_it_in() {
    Envelope request = home.ask("alice").sign();
    Envelope denied = home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign();
    Envelope pending = home.ask("alice").tool("pay").sign();
    Answer first = home.submit(request);
    Answer no = home.submit(denied);
    Answer waits = home.submit(pending);
    home.clock.forward(Duration.ofSeconds(30));
    home.activate(
        TestPolicy.YAML
            .replace("  - { tenant: acme, subject: alice, roles: [worker] }\n", "")
            .replace("request_age_max_s: 300", "request_age_max_s: 1"));
    answersAgain(request, first);
    answersAgain(denied, no);
    answersAgain(pending, waits);
    assertThat(home.submit(pending).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(home.decide(denied).decision().verdict()).isEqualTo(Verdict.DENY);
  }

  @Test
  void when_the_time_of_its_key_is_over() {
    home.enrol(
        new TrustedKey(
            TestKeys.key("alice-2").verifyingKey(),
            KeyRole.AGENT,
            Optional.of(TestKeys.TENANT),
            "alice",
            TestHome.START.minusSeconds(1),
            Optional.of(TestHome.START.plusSeconds(60)),
            Optional.empty()));
    Envelope request = home.ask("alice").signedBy("alice-2").sign();
    Answer first = home.submit(request);
    home.clock.forward(Duration.ofSeconds(61));
    answersAgain(request, first);
    assertThat(home.submit(request).served().orElseThrow().output()).isPresent();
  }

  /** The receipt says what became of it; the output is for a holder whose key is in force. */
  @Test
  void without_the_output_when_its_key_was_revoked() {
    Envelope request = home.ask("alice").sign();
    Answer first = home.submit(request);
    home.revoke("alice");
    answersAgain(request, first);
    assertThat(home.submit(request).served().orElseThrow().output()).isEmpty();
  }

  @Test
  void but_nothing_new_is_done_for_it() {
    Envelope request = home.ask("alice").tool("mail").sign();
    home.decide(request);
    home.revoke("alice");
    assertThat(Refused.code(() -> home.submit(request)))
        .isEqualTo(CanonicalizeError.KEY_REVOKED.code());
    assertThat(home.decide(request).intent()).isPresent();
    assertThat(home.driver.runs()).isEmpty();
  }

  @Test
  void and_not_to_who_has_another_signature() {
    Envelope request = home.ask("alice").sign();
    home.submit(request);
    Envelope forged = Envelope.sign(Request.TYPE, request.document(), TestKeys.key("bob"));
    assertThat(forged.id()).isEqualTo(request.id());
    assertThat(Refused.code(() -> home.submit(forged)))
        .isEqualTo(GuardianError.SIGNER_MISMATCH.code());
  }

  @Test
  void one_that_was_never_seen_and_is_too_old_is_told_so() {
    Envelope request = home.ask("alice").sign();
    home.clock.forward(Duration.ofSeconds(301));
    for (int start = 0; start < 2; start++) {
      assertThat(Refused.code(() -> home.submit(request)))
          .isEqualTo(GuardianError.REQUEST_NEVER_SEEN.code());
      assertThat(Refused.code(() -> home.decide(request)))
          .isEqualTo(GuardianError.REQUEST_NEVER_SEEN.code());
      home.restart();
    }
    assertThat(home.ledger().hasDocument(request.id())).isFalse();
  }

  /** Whether it was seen is no answer for somebody who cannot sign it. */
  @Test
  void but_nobody_else_is_told() {
    Envelope request = home.ask("alice").sign();
    Envelope forged = home.ask("alice").signedBy("bob").sign();
    home.clock.forward(Duration.ofSeconds(301));
    byte[] bytes = request.toBytes();
    byte[] unsigned =
        new String(bytes, StandardCharsets.UTF_8)
            .replaceFirst("\"sig\":\"..", "\"sig\":\"AA")
            .getBytes(StandardCharsets.UTF_8);
    assertThat(Refused.code(() -> home.kernel().submit(unsigned, List.of())))
        .isEqualTo(GuardianError.REQUEST_TOO_OLD.code());
    assertThat(Refused.code(() -> home.submit(forged)))
        .isEqualTo(GuardianError.SIGNER_MISMATCH.code());
  }

  /** What was served under its idempotency key is the answer to it as well. */
  @Test
  void nor_is_one_whose_key_was_served() {
    Envelope first = home.ask("alice").tool("mail").key("k").sign();
    Envelope second = home.ask("alice").tool("mail").key("k").sign();
    Served served = home.submit(first).served().orElseThrow();
    home.clock.forward(Duration.ofSeconds(301));
    assertThat(home.submit(second).served().orElseThrow().id()).isEqualTo(served.id());
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void evidence_may_not_be_a_document_that_comes_with_an_event() {
    Envelope other = home.ask("alice").sign();
    var request = home.ask("alice").tool("mail").evidence(List.of(other.id())).sign();
    assertThat(Refused.code(() -> home.kernel().submit(request.toBytes(), List.of(other))))
        .isEqualTo(ExecutorError.KEPT_OTHERWISE.code());
    assertThat(home.ledger().hasDocument(other.id())).isFalse();
  }
}
