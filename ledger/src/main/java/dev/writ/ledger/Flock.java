package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * flock(2): an exclusive lock of an inode, which may be a directory's; the JDK cannot take such
 * locks. It belongs to one open file description, so unlike a lock of fcntl(2) it is not lost when
 * another descriptor of the same file is closed in this process. It ends with the process.
 */
final class Flock implements WriterLock.Held {
  /** Read only; O_CLOEXEC, so that no child process holds the lock beyond this one's end. */
  private static final int OPEN = 0x80000;

  private static final int EXCLUSIVE_AT_ONCE = 2 | 4;
  private static final int EWOULDBLOCK = 11;
  private static final int EMFILE = 24;
  private static final int ENFILE = 23;
  private static final int EACCES = 13;

  private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO_FIELD =
      ERRNO.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle OPEN_FUNCTION =
      function(
          "open",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle FLOCK =
      function(
          "flock",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final MethodHandle CLOSE =
      function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  private final int descriptor;
  private boolean closed;

  private Flock(int descriptor) {
    this.descriptor = descriptor;
  }

  @SuppressWarnings("restricted")
  private static MethodHandle function(
      String name, FunctionDescriptor type, Linker.Option... options) {
    Linker.Option[] all = new Linker.Option[options.length + 1];
    System.arraycopy(options, 0, all, 0, options.length);
    all[options.length] = Linker.Option.captureCallState("errno");
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, all);
  }

  /**
   * Takes the lock; empty if another process has it.
   *
   * @throws WritException {@code LED-004}, {@code LED-008} or {@code LED-073} where the path cannot
   *     be opened, {@code LED-072} where it cannot be locked
   */
  static Optional<Flock> take(Path path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(ERRNO);
      int descriptor =
          (int)
              OPEN_FUNCTION.invokeExact(
                  errno, arena.allocateFrom(path.toString(), StandardCharsets.UTF_8), OPEN);
      if (descriptor < 0) {
        throw notOpened(path, error(errno));
      }
      Flock lock = new Flock(descriptor);
      if ((int) FLOCK.invokeExact(errno, descriptor, EXCLUSIVE_AT_ONCE) == 0) {
        return Optional.of(lock);
      }
      int error = error(errno);
      lock.close();
      if (error == EWOULDBLOCK) {
        return Optional.empty();
      }
      throw new WritException(LedgerError.LOCK_UNAVAILABLE, path + ": errno " + error);
    } catch (WritException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("flock(2) cannot be called", e);
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

  private static int error(MemorySegment errno) {
    return (int) ERRNO_FIELD.get(errno, 0L);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (Arena arena = Arena.ofConfined()) {
      int _ = (int) CLOSE.invokeExact(arena.allocate(ERRNO), descriptor);
    } catch (Throwable e) {
      throw new IllegalStateException("close(2) cannot be called", e);
    }
  }
}
