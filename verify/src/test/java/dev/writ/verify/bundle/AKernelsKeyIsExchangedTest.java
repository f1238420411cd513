package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.verify.audit.Audit;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A kernel goes on with another key of its own while it works; what the one before signed counts,
 * also after that is revoked, and audit, {@code fsck} and both verifiers find nothing.
 */
class AKernelsKeyIsExchangedTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void open() {
    home = Sample.home(dir.resolve("home"));
  }

  @AfterEach
  void close() {
    home.close();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private void enrol(KeyRole role) {
    TrustedKey old = TestKeys.trusted(role.text(), role, Optional.empty());
    home.enrol(
        new TrustedKey(
            TestKeys.key("next " + role.text()).verifyingKey(),
            role,
            Optional.empty(),
            old.subject(),
            old.notBefore(),
            Optional.empty(),
            Optional.empty()));
  }

  private void exchange(KeyRole role) {
    enrol(role);
    home.kernel().signWith(role, TestKeys.key("next " + role.text()));
  }

  private void revokeOld(KeyRole role) {
    home.kernel()
        .change(
            home.change(
                EventKind.KEY_REVOKED,
                JsonValue.object().put("kid", TestKeys.key(role.text()).kid()).build()));
  }

  private String signer(String kind) {
    Envelope last =
        home.document(
            home.events(TestKeys.TENANT, "run-1").stream()
                .filter(event -> event.kind().equals(kind))
                .toList()
                .getLast()
                .body());
    return last.signatures().getFirst().kid();
  }

  private void requireSound() {
    home.kernel().checkpoint();
    byte[] bundle = Sample.export(home);
    OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
    try (LedgerView ledger = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      Tools tools = new Tools(home.tools, home.drivers);
      assertThat(Audit.check(ledger, tools, (_, _) -> {}).problems()).isEmpty();
    }
  }

  private FsckReport fsck(String... logKeys) {
    return Fsck.check(
        Fsck.Options.of(home.ledgerConfig().dir())
            .withLogKeys(
                List.of(logKeys).stream().map(n -> TestKeys.key(n).verifyingKey()).toList()));
  }

  @Test
  void guardian_and_executor_sign_with_the_next_key_and_what_waits_goes_on() {
    home.submit(home.ask("alice"));
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    exchange(KeyRole.GUARDIAN);
    exchange(KeyRole.EXECUTOR);
    assertThat(home.execute(decided, "alice").receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(signer(EventKind.INTENT_ISSUED)).isEqualTo(TestKeys.key("guardian").kid());
    assertThat(signer(EventKind.RECEIPT_SIGNED)).isEqualTo(TestKeys.key("next executor").kid());
    revokeOld(KeyRole.GUARDIAN);
    revokeOld(KeyRole.EXECUTOR);
    home.submit(home.ask("alice"));
    assertThat(signer(EventKind.DECISION_MADE)).isEqualTo(TestKeys.key("next guardian").kid());
    Sample.close(home, "run-1");
    requireSound();
  }

  @Test
  void an_intent_of_a_guardian_that_is_revoked_is_not_executed() {
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    exchange(KeyRole.GUARDIAN);
    revokeOld(KeyRole.GUARDIAN);
    WritException refused =
        catchThrowableOfType(WritException.class, () -> home.execute(decided, "alice"));
    assertThat(refused).isNotNull();
    assertThat(home.driver.runs()).isEmpty();
  }

  @Test
  void checkpoints_of_both_log_keys_are_believed() {
    home.submit(home.ask("alice"));
    home.kernel().checkpoint();
    exchange(KeyRole.LOG);
    home.submit(home.ask("alice"));
    Sample.close(home, "run-1");
    requireSound();
    revokeOld(KeyRole.LOG);
    assertThat(home.kernel().checkpoint().size()).isEqualTo(home.log().size());
    requireSound();
    assertThat(fsck("log", "next log").problems()).isEmpty();
    assertThat(fsck("log").problems()).isNotEmpty();
    assertThat(fsck("next log").problems()).isNotEmpty();
  }

  @Test
  void a_key_that_is_not_enrolled_in_that_role_is_refused_and_the_old_one_goes_on() {
    enrol(KeyRole.EXECUTOR);
    for (KeyRole role : List.of(KeyRole.GUARDIAN, KeyRole.LOG)) {
      for (String name : List.of("nobody's", "next executor")) {
        assertThat(
                catchThrowableOfType(
                        WritException.class, () -> home.kernel().signWith(role, TestKeys.key(name)))
                    .code())
            .isEqualTo(ExecutorError.OWN_KEY);
      }
    }
    home.submit(home.ask("alice"));
    assertThat(signer(EventKind.DECISION_MADE)).isEqualTo(TestKeys.key("guardian").kid());
    requireSound();
  }
}
