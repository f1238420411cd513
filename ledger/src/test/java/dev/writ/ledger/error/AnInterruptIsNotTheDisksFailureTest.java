package dev.writ.ledger.error;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever cancels a call is not sent to look at the disk. */
class AnInterruptIsNotTheDisksFailureTest {
  @TempDir Path dir;

  @Test
  void aFileThatTheJdkClosedUnderAnInterruptedThread() throws IOException {
    Path file = Files.createFile(dir.resolve("file"));
    IOException told = null;
    try (FileChannel channel = FileChannel.open(file)) {
      Thread.currentThread().interrupt();
      channel.force(true);
    } catch (ClosedByInterruptException e) {
      told = e;
    } finally {
      Thread.interrupted();
    }
    WritException refused = Failures.of("syncing " + file, told);
    assertThat(refused.code()).isEqualTo(LedgerError.INTERRUPTED);
    assertThat(refused.getMessage()).doesNotContain("Look at the disk");
  }

  @Test
  void anyOtherFailureIsTheDisksAsBefore() {
    assertThat(Failures.of("reading", new IOException("input/output error")).code())
        .isEqualTo(LedgerError.STORAGE);
  }
}
