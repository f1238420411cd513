package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Status;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs cancel their work by interrupting its thread, and the JDK closes a file under a thread
 * that is interrupted while it writes: that is no failure of the disk, and no reason to lose
 * anything.
 */
class AnInterruptedCallerStopsNobodyElseTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir.resolve("home"));
  }

  @AfterEach
  void stop() {
    assertThat(Thread.interrupted()).isTrue();
    assertThat(home.submit(home.ask("alice").tool("mail").run("run-9")).served()).isPresent();
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  @Test
  void anEffectEndsWithItsReceipt() {
    Thread.currentThread().interrupt();
    assertThat(
            home.submit(home.ask("alice").tool("mail")).served().orElseThrow().receipt().status())
        .isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void aLargeContentIsStored() {
    byte[] large = new byte[3 << 20];
    InputStream content = new ByteArrayInputStream(large);
    Thread.currentThread().interrupt();
    assertThat(home.kernel().contents().put("acme", content, "text/plain").digest())
        .isEqualTo(Digest.sha256(large));
  }

  @Test
  void aCheckpointIsSigned() {
    Thread.currentThread().interrupt();
    assertThat(home.kernel().checkpoint().size()).isPositive();
  }
}
