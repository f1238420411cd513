package dev.writ.cli.warm;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import java.util.Optional;

/**
 * Keeps a server's memory flat. The serial collector lets the old generation grow to the limit of
 * the heap, which is large for the sake of guests that need much, before it looks for garbage in
 * it. Here it looks when the old generation has doubled, so that the time it takes stays a small
 * part of the time in which that much was promoted.
 */
public final class OldGeneration {
  /** Less is not worth a pause. */
  static final long BYTES_MIN = 64L << 20;

  /** The pool's name where the collector is the serial one; others see to it themselves. */
  private static final String POOL = "Tenured Gen";

  private static final Duration EVERY = Duration.ofSeconds(5);

  private OldGeneration() {}

  /**
   * @param used bytes in the old generation
   * @param afterLast bytes that the last collection of it left
   */
  static boolean isDue(long used, long afterLast) {
    return used > Math.max(BYTES_MIN, 2 * afterLast);
  }

  /** From now on, in the background, as long as the process lives. */
  public static void keepSmall() {
    pool()
        .ifPresent(pool -> Thread.ofPlatform().daemon().name("writ-heap").start(() -> keep(pool)));
  }

  private static Optional<MemoryPoolMXBean> pool() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getName().equals(POOL))
        .findFirst();
  }

  private static void keep(MemoryPoolMXBean pool) {
    try {
      while (true) {
        Thread.sleep(EVERY);
        MemoryUsage after = pool.getCollectionUsage();
        if (isDue(pool.getUsage().getUsed(), after == null ? 0 : after.getUsed())) {
          System.gc();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody does
    }
  }
}
