package dev.writ.embed.home;

import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The directory in which a home is being made. Where the process is told to end meanwhile, as by
 * Ctrl-C, it is put out of the way, so that whoever makes the home fails, removes what it has made
 * elsewhere, and nothing keeps the next attempt from its place.
 */
final class HalfMade implements AutoCloseable {
  /** For a maker that does not notice, as on a disk that hangs. */
  private static final int PATIENCE_S = 10;

  private final Path parts;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = new Thread(this::end, "writ-half-made");

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
    Path ended = parts.resolveSibling(parts.getFileName() + ".ended");
    try {
      Files.move(parts, ended, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException _) {
      return; // the home is whole, and in its place
    }
    try {
      closed.await(PATIENCE_S, TimeUnit.SECONDS);
      DurableFiles.deleteTree(ended);
    } catch (IOException _) {
      // There is nobody left to tell.
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
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
