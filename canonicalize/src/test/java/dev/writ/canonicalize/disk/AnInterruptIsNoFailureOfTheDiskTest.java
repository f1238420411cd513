package dev.writ.canonicalize.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs cancel what they do by interrupting its thread. */
class AnInterruptIsNoFailureOfTheDiskTest {
  @TempDir Path dir;

  @AfterEach
  void goOn() {
    Thread.interrupted();
  }

  @Test
  void whatIsWrittenMeanwhileIsSynced() throws IOException {
    Path file = dir.resolve("file");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      Thread.currentThread().interrupt();
      Disk.REAL.write(channel, ByteBuffer.wrap(new byte[] {1, 2, 3}), file);
      Disk.REAL.sync(channel, file);
      Disk.REAL.syncDirectory(dir);
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
      assertThat(channel.isOpen()).isTrue();
    }
    Thread.interrupted();
    assertThat(Files.readAllBytes(file)).containsExactly(1, 2, 3);
  }

  @Test
  void whoIsNotInterruptedStaysSo() throws IOException {
    Disk.REAL.syncDirectory(dir);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void aFailureIsTold() throws IOException {
    Path file = Files.createFile(dir.resolve("file"));
    FileChannel closed = FileChannel.open(file, StandardOpenOption.WRITE);
    closed.close();
    assertThatThrownBy(() -> Disk.REAL.sync(closed, file))
        .isInstanceOf(Disk.SyncFailed.class)
        .hasMessageContaining("fsync");
  }

  @Test
  void aBugIsNoFailureOfTheDisk() {
    assertThatThrownBy(() ->
            ShieldedOperation.run(() -> {
              throw new IllegalStateException("a bug");
            }))
        .hasRootCauseInstanceOf(IllegalStateException.class);
  }
}
