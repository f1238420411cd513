package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * A temporary directory that only its owner can read. It is removed when it is closed, and at the
 * latest when the process ends, be it by a signal such as that of Ctrl-C. It stays where the
 * process is killed.
 */
public final class TemporaryDirectory implements AutoCloseable {
  /** Other threads and processes may still write into it. */
  private static final int ATTEMPTS = 100;

  private static final long PAUSE_NANOS = 10_000_000;

  private static final Set<TemporaryDirectory> OPEN = new LinkedHashSet<>();
  private static Thread hook;
  private static boolean ending;

  private final Path path;
  private final Runnable before;

  private TemporaryDirectory(Path path, Runnable before) {
    this.path = path;
    this.before = before;
  }

  /** Makes a new one in the temporary directory of the host. */
  public static TemporaryDirectory create(String prefix) throws IOException {
    return create(prefix, () -> {});
  }

  /**
   * Makes a new one in the temporary directory of the host.
   *
   * @param before ends what uses it, where the process ends while it is open; called in a thread of
   *     its own
   */
  public static TemporaryDirectory create(String prefix, Runnable before) throws IOException {
    return opened(Files.createTempDirectory(prefix), before);
  }

  /** Makes a new one in another directory. */
  public static TemporaryDirectory in(Path parent, String prefix) throws IOException {
    return opened(Files.createTempDirectory(parent, prefix), () -> {});
  }

  private static TemporaryDirectory opened(Path path, Runnable before) throws IOException {
    TemporaryDirectory made = new TemporaryDirectory(path, before);
    synchronized (OPEN) {
      if (hook == null) {
        hook();
      }
      if (ending) {
        Files.delete(path);
        throw new IOException("the process ends");
      }
      OPEN.add(made);
    }
    return made;
  }

  private static void hook() {
    Thread removing = new Thread(TemporaryDirectory::removeAll, "writ-temporary");
    try {
      Runtime.getRuntime().addShutdownHook(removing);
    } catch (IllegalStateException e) {
      ending = true;
    }
    hook = removing;
  }

  /** A hook that nothing needs would keep the class loader of a program that embeds Writ. */
  private static void unhook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
      hook = null;
    } catch (IllegalStateException _) {
      // The process ends, and it runs.
    }
  }

  private static void removeAll() {
    List<TemporaryDirectory> left;
    synchronized (OPEN) {
      ending = true;
      left = List.copyOf(OPEN);
    }
    left.forEach(TemporaryDirectory::removeAtLast);
  }

  private void removeAtLast() {
    try {
      before.run();
    } catch (RuntimeException _) {
      // What uses it may be closing by itself meanwhile.
    }
    try {
      remove(renamed());
    } catch (IOException _) {
      // There is nobody left to tell.
    }
  }

  /** At once out of the way of other threads, none of which may find a part of its files. */
  private Path renamed() {
    Path ended = path.resolveSibling(path.getFileName() + ".ended");
    try {
      return Files.move(path, ended, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      return path; // it is being closed, or its file system renames nothing
    }
  }

  private static void remove(Path directory) throws IOException {
    for (int i = 1; Files.exists(directory); i++) {
      try {
        DurableFiles.deleteTree(directory);
      } catch (IOException e) {
        if (i == ATTEMPTS) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  public Path path() {
    return path;
  }

  /** Removes it with all that is in it; one that has been removed or renamed is fine. */
  @Override
  public void close() throws IOException {
    remove(path);
    synchronized (OPEN) {
      OPEN.remove(this);
      if (OPEN.isEmpty() && !ending && hook != null) {
        unhook();
      }
    }
  }
}
