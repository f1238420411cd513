package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.CLibrary;
import dev.writ.ledger.error.LedgerError;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/**
 * flock(2): an exclusive lock of an inode, which may be a directory's; the JDK cannot take such
 * locks. It belongs to one open file description, so unlike a lock of fcntl(2) it is not lost when
 * another descriptor of the same file is closed in this process. It ends with the process.
 */
public final class Flock implements WriterLock.Held {
  /** Read only; O_CLOEXEC, so that no child process holds the lock beyond this one's end. */
  private static final int OPEN = 0x80000;

  private static final int EXCLUSIVE_AT_ONCE = 2 | 4;
  private static final int EWOULDBLOCK = 11;
  private static final int EMFILE = 24;
  private static final int ENFILE = 23;
  private static final int EACCES = 13;

  /** Without its third argument, which is there where a file is made. */
  private static final CLibrary.Plain OPEN_FUNCTION = CLibrary.plain("open");

  private static final CLibrary.Plain FLOCK = CLibrary.plain("flock");

  private final int descriptor;
  private boolean closed;

  private Flock(int descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * Takes the lock; empty if another process has it.
   *
   * @throws WritException {@code LED-004}, {@code LED-008} or {@code LED-073} where the path cannot
   *     be opened, {@code LED-072} where it cannot be locked
   */
  public static Optional<Flock> take(Path path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = CLibrary.capture(arena);
      MemorySegment name = CLibrary.text(arena, path.toString());
      int descriptor = OPEN_FUNCTION.call(errno, name.address(), OPEN);
      if (descriptor < 0) {
        throw notOpened(path, CLibrary.errno(errno));
      }
      Flock lock = new Flock(descriptor);
      if (FLOCK.call(errno, descriptor, EXCLUSIVE_AT_ONCE) == 0) {
        return Optional.of(lock);
      }
      int error = CLibrary.errno(errno);
      lock.close();
      if (error == EWOULDBLOCK) {
        return Optional.empty();
      }
      throw new WritException(LedgerError.LOCK_UNAVAILABLE, path + ": errno " + error);
    }
  }

  private static WritException notOpened(Path path, int error) {
    LedgerError code =
        switch (error) {
          case EMFILE, ENFILE -> LedgerError.DESCRIPTORS;
          case EACCES -> LedgerError.NO_PERMISSION;
          default -> LedgerError.STORAGE;
        };
    return new WritException(code, "opening " + path + ": errno " + error);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    CLibrary.close(descriptor);
  }
}
