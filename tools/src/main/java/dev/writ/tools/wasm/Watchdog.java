package dev.writ.tools.wasm;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Enforces guests' limits of elapsed and processor time. A guest cannot use more processor time
 * than time passes, so each check takes place at the earliest time at which the limit could be
 * reached.
 */
final class Watchdog implements AutoCloseable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final ScheduledThreadPoolExecutor timer;

  Watchdog() {
    timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("writ-guest-watchdog").daemon().factory());
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** One guest being watched. */
  final class Watch implements AutoCloseable {
    private final Stop stop;
    private final long threadId;
    private final long wallLimit;
    private final long cpuLimit;
    private final long wallStart;
    private final long cpuStart;
    private volatile boolean closed;
    private volatile Future<?> next;

    private Watch(Stop stop, long cpuMs, long wallMs) {
      this.stop = stop;
      this.threadId = Thread.currentThread().threadId();
      this.wallLimit = nanos(wallMs);
      this.cpuLimit = nanos(cpuMs);
      this.wallStart = System.nanoTime();
      this.cpuStart = cpuTime();
      checkIn(Math.min(wallLimit, cpuLimit));
    }

    private void checkIn(long nanos) {
      next = timer.schedule(this::check, nanos, TimeUnit.NANOSECONDS);
    }

    private void check() {
      if (closed) {
        return;
      }
      long wallLeft = wallLimit - wallNanos();
      long cpuLeft = cpuLimit - cpuNanos();
      if (cpuLeft <= 0) {
        stop.request(Reason.CPU_TIME);
      } else if (wallLeft <= 0) {
        stop.request(Reason.WALL_TIME);
      } else {
        checkIn(Math.min(wallLeft, cpuLeft));
      }
    }

    private long cpuTime() {
      return Math.max(0, THREADS.getThreadCpuTime(threadId));
    }

    long wallNanos() {
      return System.nanoTime() - wallStart;
    }

    long cpuNanos() {
      return cpuTime() - cpuStart;
    }

    /**
     * Also takes its check off the timer: guests end in a millisecond, and their checks would stay
     * for as long as their limits.
     */
    @Override
    public void close() {
      closed = true;
      next.cancel(false);
    }
  }

  /** How many checks are to come. */
  int waiting() {
    return timer.getQueue().size();
  }

  /** Watches the current thread from now on. */
  Watch watch(Stop stop, long cpuMs, long wallMs) {
    return new Watch(stop, cpuMs, wallMs);
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(Math.min(millis, TimeUnit.DAYS.toMillis(365)));
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
