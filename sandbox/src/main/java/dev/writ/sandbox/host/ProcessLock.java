package dev.writ.sandbox.host;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * A lock of a file, for one place in one process. The kernel's lock belongs to the process, and
 * closing any descriptor of the file drops it (fcntl(2)); so this process opens a file that it has
 * locked no second time.
 */
public final class ProcessLock implements AutoCloseable {
  private static final Set<Path> OURS = new ConcurrentSkipListSet<>();

  private final Path file;
  private final FileChannel channel;

  private ProcessLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /**
   * Locks a file, which is made where it is missing: a private one, since any user who could open
   * it could lock it.
   *
   * @return empty where it is locked already, by this process or another
   */
  public static Optional<ProcessLock> take(Path path) throws IOException {
    Path file = path.toAbsolutePath().getParent().toRealPath().resolve(path.getFileName());
    if (!OURS.add(file)) {
      return Optional.empty();
    }
    boolean taken = false;
    try {
      Modes.ensurePrivateFile(file);
      FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
      try {
        FileLock lock = channel.tryLock();
        taken = lock != null;
        return taken ? Optional.of(new ProcessLock(file, channel)) : Optional.empty();
      } finally {
        if (!taken) {
          channel.close();
        }
      }
    } finally {
      if (!taken) {
        OURS.remove(file);
      }
    }
  }

  public boolean isHeld() {
    return channel.isOpen();
  }

  @Override
  public synchronized void close() throws IOException {
    if (channel.isOpen()) {
      channel.close();
      OURS.remove(file);
    }
  }
}
