package dev.writ.tools.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Lets one call at a time work on a directory of this host and everything below it. */
final class DirectoryLocks {
  private final List<Path> taken = new ArrayList<>();

  /** Ends the use of a directory. */
  @FunctionalInterface
  interface Taken extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Waits until nobody has the directory, one below it or one above it.
   *
   * @throws InterruptedException where the call is cancelled meanwhile
   */
  synchronized Taken take(Path directory) throws InterruptedException {
    while (taken.stream().anyMatch(t -> t.startsWith(directory) || directory.startsWith(t))) {
      wait();
    }
    taken.add(directory);
    return () -> release(directory);
  }

  private synchronized void release(Path directory) {
    taken.remove(directory);
    notifyAll();
  }
}
