package dev.writ.tools.wasm;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The guest's time: the recorded clock reading, plus {@code step} nanoseconds for each reading, so
 * that a program that measures time does not divide by zero. Sleeping advances it at once.
 */
public final class GuestClock {
  private final long step;
  private final long start;
  private long now;

  /**
   * @param step nanoseconds by which each reading moves the clock; 0 stops it
   */
  public GuestClock(Instant start, long step) {
    this.step = step;
    this.start = nanosSinceEpoch(start);
    this.now = this.start;
  }

  /** Nanoseconds since 1970-01-01T00:00:00Z; before that, zero, since WASI has no sign. */
  public static long nanosSinceEpoch(Instant time) {
    if (time.isAfter(Instant.EPOCH.plus(Long.MAX_VALUE, ChronoUnit.NANOS))) {
      return Long.MAX_VALUE;
    }
    return Math.max(0, Instant.EPOCH.until(time, ChronoUnit.NANOS));
  }

  /** Reads the clock, and advances it by one step. */
  public long read() {
    long result = now;
    advanceTo(now + step);
    return result;
  }

  /** The time at which the guest began. */
  public long start() {
    return start;
  }

  /** This moment. */
  public long peek() {
    return now;
  }

  /** Moves the clock forward to {@code nanos}; never back, and never past the largest value. */
  public void advanceTo(long nanos) {
    if (nanos < 0) {
      now = Long.MAX_VALUE;
    } else {
      now = Math.max(now, nanos);
    }
  }
}
