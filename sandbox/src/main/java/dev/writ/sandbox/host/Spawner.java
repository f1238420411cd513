package dev.writ.sandbox.host;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Starts every process from one platform thread that lives as long as the JVM. A process that asks
 * to die with its parent gets its signal when the parent's <em>thread</em> ends: started from a
 * virtual thread, it would die with the carrier, 30 seconds later.
 */
public final class Spawner {
  private record Order(ProcessBuilder builder, CompletableFuture<Process> done) {}

  private static final LinkedBlockingQueue<Order> ORDERS = new LinkedBlockingQueue<>();

  static {
    Thread.ofPlatform().daemon().name("writ-sandbox-spawner").start(Spawner::work);
  }

  private Spawner() {}

  private static void work() {
    while (true) {
      Order order;
      try {
        order = ORDERS.take();
      } catch (InterruptedException e) {
        continue; // nobody may end this thread
      }
      try {
        order.done().complete(order.builder().start());
      } catch (IOException | RuntimeException e) {
        order.done().completeExceptionally(e);
      }
    }
  }

  /**
   * Starts a process.
   *
   * @throws WritException {@code SBX-004}
   */
  public static Process start(ProcessBuilder builder) {
    CompletableFuture<Process> done = new CompletableFuture<>();
    ORDERS.add(new Order(builder, done));
    try {
      return done.join();
    } catch (CompletionException e) {
      throw new WritException(
          SandboxError.ENGINE_FAILED,
          builder.command().getFirst() + " does not start",
          e.getCause());
    }
  }
}
