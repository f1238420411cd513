package dev.writ.gateway;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Repeats work in a thread of its own, until it is closed. */
final class Housekeeping implements AutoCloseable {
  private final Thread thread;
  private boolean closing;

  /**
   * @param failures gets the exception of a failed run; the next run takes place nevertheless
   */
  Housekeeping(Duration every, Runnable work, Consumer<RuntimeException> failures) {
    this(every, every, work, failures);
  }

  /**
   * @param parts done one after the other; where one fails the others are done all the same
   */
  Housekeeping(Duration every, List<Runnable> parts, Consumer<RuntimeException> failures) {
    this(every, every, parts, failures);
  }

  /**
   * @param first the delay before the first run
   */
  Housekeeping(Duration first, Duration every, Runnable work, Consumer<RuntimeException> failures) {
    this(first, every, List.of(work), failures);
  }

  private Housekeeping(
      Duration first, Duration every, List<Runnable> parts, Consumer<RuntimeException> failures) {
    thread =
        Thread.ofPlatform()
            .name("writ-housekeeping")
            .daemon()
            .start(() -> {
              for (Duration next = first; waited(next); next = every) {
                parts.forEach(part -> attempt(part, failures));
              }
            });
  }

  private static void attempt(Runnable part, Consumer<RuntimeException> failures) {
    try {
      part.run();
    } catch (RuntimeException e) {
      failures.accept(e);
    }
  }

  private synchronized boolean waited(Duration every) {
    long end = System.nanoTime() + every.toNanos();
    try {
      for (long left = every.toMillis(); !closing && left > 0; ) {
        wait(left);
        left = (end - System.nanoTime()) / 1_000_000;
      }
    } catch (InterruptedException e) {
      return false;
    }
    return !closing;
  }

  /** Returns when the run at work has ended. */
  @Override
  public void close() {
    synchronized (this) {
      closing = true;
      notifyAll();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
