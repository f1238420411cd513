package dev.writ.gateway.ops;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import javax.management.NotificationEmitter;

/**
 * Keeps a process's heap small. The serial collector lets the old generation grow to the limit of
 * the heap, which is large for the sake of single contents that need much, before it looks for
 * garbage in it. Here it looks when the old generation has doubled, so that the time it takes stays
 * a small part of the time in which that much was promoted.
 */
public final class OldGeneration {
  /** Less is not worth a pause. */
  private static final long BYTES_MIN = 64L << 20;

  /** The pool's name where the collector is the serial one; others see to it themselves. */
  private static final String POOL = "Tenured Gen";

  private OldGeneration() {}

  /** From now on, as long as the process lives. */
  public static void keepSmall() {
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getName().equals(POOL)) {
        keepSmall(pool);
      }
    }
  }

  private static void keepSmall(MemoryPoolMXBean pool) {
    tellAt(pool, BYTES_MIN);
    // Told after a collection of the young generation, on a thread of the JVM's.
    ((NotificationEmitter) ManagementFactory.getMemoryMXBean())
        .addNotificationListener(
            (notification, _) -> {
              if (notification.getType().equals(MemoryNotificationInfo.MEMORY_THRESHOLD_EXCEEDED)) {
                System.gc();
                tellAt(pool, Math.max(BYTES_MIN, 2 * pool.getUsage().getUsed()));
              }
            },
            null,
            null);
  }

  /** A heap whose limit is lower is collected at that limit anyway. */
  private static void tellAt(MemoryPoolMXBean pool, long bytes) {
    long most = pool.getUsage().getMax();
    pool.setUsageThreshold(most < 0 ? bytes : Math.min(bytes, most));
  }
}
