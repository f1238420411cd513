package dev.writ.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What one operation took.
 *
 * @param wallNs nanoseconds by the clock
 * @param cpuNs processor time of the whole process, in nanoseconds: on a busy machine the steadier
 *     number, and blind to waiting
 */
record Cost(double wallNs, double cpuNs) {
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  /**
   * For a row whose unit is bytes: the table shows thousands of nanoseconds, so that a byte is one
   * of what it shows.
   */
  static Cost ofBytes(double bytes) {
    return new Cost(1000 * bytes, 0);
  }

  /** Where both clocks stood. */
  record Start(long wall, long cpu) {
    static Start now() {
      return new Start(System.nanoTime(), SYSTEM.getProcessCpuTime());
    }

    long wallNanos() {
      return System.nanoTime() - wall;
    }

    long cpuNanos() {
      return SYSTEM.getProcessCpuTime() - cpu;
    }

    /** The average cost of one of the operations that ran since this start. */
    Cost each(long operations) {
      long wallNanos = wallNanos();
      return new Cost((double) wallNanos / operations, (double) cpuNanos() / operations);
    }
  }
}
