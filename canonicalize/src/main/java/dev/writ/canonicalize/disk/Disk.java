package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Set;

/**
 * The file operations that durability rests on. Tests and simulations wrap it and make any one of
 * them fail.
 */
public interface Disk {
  /** The disk of this machine. */
  Disk REAL = new Disk() {};

  default FileChannel open(
      Path file, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return FileChannel.open(file, options, attributes);
  }

  /** Writes all that remains in the buffer, also for a thread that is interrupted already. */
  default void write(FileChannel channel, ByteBuffer content, Path file) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (content.hasRemaining()) {
        channel.write(content);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** fsync(2) of a file that was written; an interrupt does not reach it. */
  default void sync(FileChannel channel, Path file) throws IOException {
    try {
      if (file.getFileSystem() == FileSystems.getDefault()) {
        ShieldedOperation.run(() -> channel.force(true));
      } else {
        channel.force(true); // one in memory, whose threads a test steps
      }
    } catch (IOException e) {
      throw new SyncFailed(file, e);
    }
  }

  /** fsync(2) of a directory: the names in it. */
  default void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      sync(channel, directory);
    }
  }

  /** rename(2), in place of what has that name. */
  default void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * A sync failed. The kernel may have dropped what was not written and marked it clean, so a later
   * sync that succeeds proves nothing (fsync(2), Linux 4.13 and later: an error is reported once).
   */
  final class SyncFailed extends FileSystemException {
    private static final long serialVersionUID = 1;

    public SyncFailed(Path file, IOException cause) {
      super(file.toString(), null, "fsync: " + cause.getMessage());
      initCause(cause);
    }
  }
}
