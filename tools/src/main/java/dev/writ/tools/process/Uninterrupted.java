package dev.writ.tools.process;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Work that is done whatever becomes of the call that asked for it, such as that on files after a
 * command has ended. A cancel interrupts the thread of the call, and an interrupt closes every
 * channel that its thread reads or writes, and ends every guest that it runs: files would be left
 * half copied. So this work has a thread of its own, which nobody interrupts.
 */
public final class Uninterrupted {
  private Uninterrupted() {}

  /** What the work gives or throws; the caller's interrupt stays as it is. */
  public static <T> T get(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(
              work, task -> Thread.ofVirtual().name("writ-uninterrupted").start(task))
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
