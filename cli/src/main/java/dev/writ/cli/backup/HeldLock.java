package dev.writ.cli.backup;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.BackupError;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that one process at a time has locked; the lock ends with the process. */
final class HeldLock implements AutoCloseable {
  private final FileChannel channel;

  private HeldLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * @param file made where it does not exist; it stays
   * @throws WritException {@code BAK-004} while another has it
   */
  static HeldLock take(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return new HeldLock(channel);
      }
    } catch (OverlappingFileLockException e) {
      // another thread of this process has it
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    channel.close();
    throw new WritException(BackupError.IN_USE, file.toString());
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // The lock ends with the process.
    }
  }
}
