package dev.writ.embed.home;

import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The directory in which a home is being made. Where the process is told to end meanwhile, as by
 * Ctrl-C, it is put out of the way, so that whoever makes the home fails, removes what it has made
 * elsewhere, and nothing keeps the next attempt from its place.
 */
final class HalfMade implements AutoCloseable {
  /** For a maker that does not notice, as on a disk that hangs. */
  private static final int PATIENCE_S = 10;

  /** A thread of the database may just write a file, or make its folder again. */
  private static final int ATTEMPTS = 100;

  private static final long PAUSE_NANOS = 10_000_000;

  private final Path parts;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = new Thread(this::end, "writ-half-made");
  private volatile boolean ending;

  private HalfMade(Path parts) {
    this.parts = parts;
  }

  /** Watches over a directory that has just been made. */
  static HalfMade at(Path parts) {
    HalfMade made = new HalfMade(parts);
    try {
      Runtime.getRuntime().addShutdownHook(made.hook);
    } catch (IllegalStateException _) {
      made.hook.start(); // the process ends already
    }
    return made;
  }

  /** What a process that ends does: it returns when the maker has failed, and nothing is left. */
  void end() {
    ending = true;
    Path ended = parts.resolveSibling(parts.getFileName() + ".ended");
    try {
      Files.move(parts, ended, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException _) {
      return; // the home is whole, and in its place
    }
    try {
      closed.await(PATIENCE_S, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    for (int i = 0; i < ATTEMPTS && !(isGone(ended) && isGone(parts)); i++) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static boolean isGone(Path directory) {
    try {
      if (Files.exists(directory)) {
        DurableFiles.deleteTree(directory);
      }
      return true;
    } catch (IOException _) {
      return false;
    }
  }

  /**
   * Before the home gets its name: what was put out of the way may have been made again in part.
   *
   * @throws IOException where the process ends
   */
  void requireWhole() throws IOException {
    if (ending) {
      throw new IOException("the process ends");
    }
  }

  /** The home is made, or everything of it removed. */
  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // It runs.
    }
  }
}
