package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Status;
import dev.writ.verify.audit.Audit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What keeps the executor's key was away for hours while other effects of the run ended: the
 * receipts that it signed then hold for the audit and for both verifiers.
 */
class AReceiptThatCameLateHoldsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final DocumentSigner AWAY =
      (_, _) -> {
        throw new WritException(CanonicalizeError.SIGNER_WRONG, "away");
      };

  @TempDir Path dir;
  private final AtomicReference<DocumentSigner> signer = new AtomicReference<>(AWAY);
  private TestHome home;

  @BeforeEach
  void open() {
    home = Sample.home(dir.resolve("home"));
    home.restartWith(this::signing);
  }

  private SafeExecutor signing(SafeExecutor executor) {
    return KernelSeam.with(
        executor,
        executor.receipt().withSigner((type, document) -> signer.get().sign(type, document)));
  }

  @AfterEach
  void close() {
    home.close();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private void cameLate(String key) {
    TestRequest late = home.ask("alice").tool("mail");
    assertThat(Refused.code(() -> home.submit(late))).isEqualTo("EXE-801");
    home.clock.forward(Duration.ofHours(11));
    signer.set(DocumentSigner.of(TestKeys.key(key)));
    home.submit(home.ask("alice").tool("mail").params("{\"n\":2}"));
    assertThat(home.submit(late).served().orElseThrow().receipt().status())
        .isEqualTo(Status.SUCCEEDED);
    Sample.close(home, "run-1");
    assertThat(OPINION.pinned(Sample.export(home)).pinned()).isTrue();
    assertThat(
            Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
                .problems())
        .isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void byTheSameKey() {
    cameLate("executor");
  }

  @Test
  void byTheNextKey() {
    TrustedKey old = TestKeys.trusted("executor", KeyRole.EXECUTOR, Optional.empty());
    home.enrol(
        new TrustedKey(
            TestKeys.key("next executor").verifyingKey(),
            KeyRole.EXECUTOR,
            Optional.empty(),
            old.subject(),
            old.notBefore(),
            Optional.empty(),
            Optional.empty()));
    cameLate("next executor");
  }
}
