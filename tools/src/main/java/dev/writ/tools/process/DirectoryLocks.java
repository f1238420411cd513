package dev.writ.tools.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

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
   * @param millis how long at most
   * @return nothing where somebody still has it then
   * @throws InterruptedException where the call is cancelled meanwhile
   */
  synchronized Optional<Taken> take(Path directory, long millis) throws InterruptedException {
    long begin = System.nanoTime();
    long left = TimeUnit.MILLISECONDS.toNanos(millis);
    while (taken.stream().anyMatch(t -> t.startsWith(directory) || directory.startsWith(t))) {
      if (left <= 0) {
        return Optional.empty();
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = TimeUnit.MILLISECONDS.toNanos(millis) - (System.nanoTime() - begin);
    }
    taken.add(directory);
    return Optional.of(() -> release(directory));
  }

  private synchronized void release(Path directory) {
    taken.remove(directory);
    notifyAll();
  }
}
