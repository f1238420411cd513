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
  private boolean isMade;

  private HalfMade(Path parts) {
    this.parts = parts;
  }

  /**
   * Makes the directory, and watches over it from before it is there: a process that ends waits
   * only for what it was told of in time.
   *
   * @throws java.nio.file.FileAlreadyExistsException where it is there
   * @throws IOException also where the process ends; nothing was made then
   */
  static HalfMade at(Path parts) throws IOException {
    HalfMade made = new HalfMade(parts);
    try {
      Runtime.getRuntime().addShutdownHook(made.hook);
    } catch (IllegalStateException e) {
      throw new IOException("the process ends", e);
    }
    try {
      made.make();
      return made;
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  private synchronized void make() throws IOException {
    requireWhole();
    DurableFiles.REAL.createDirectory(parts);
    isMade = true;
  }

  /** False where there is nothing of ours, or the home is whole and in its place. */
  private synchronized boolean isPutAway(Path ended) {
    ending = true;
    try {
      if (isMade) {
        Files.move(parts, ended, StandardCopyOption.ATOMIC_MOVE);
      }
      return isMade;
    } catch (IOException _) {
      return false;
    }
  }

  /** What a process that ends does: it returns when the maker has failed, and nothing is left. */
  void end() {
    Path ended = parts.resolveSibling(parts.getFileName() + ".ended");
    if (!isPutAway(ended)) {
      return;
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
