package dev.writ.tools.process;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Work on files after a command has ended. A cancel interrupts the thread of the call, and an
 * interrupt closes every channel that its thread reads or writes: files would be left half copied.
 * So this work has a thread of its own, which nobody interrupts.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /** What the work gives or throws; the caller's interrupt stays as it is. */
  static <T> T get(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(
              work, task -> Thread.ofVirtual().name("writ-files").start(task))
          .join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause; // an OutOfMemoryError ends the process
        default -> throw e;
      }
    }
  }
}
