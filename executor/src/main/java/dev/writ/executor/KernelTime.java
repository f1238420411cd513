package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * Time that never goes back: the greater of the clock and of the latest time in the ledger. A clock
 * more than two seconds behind refuses everything (PROTOCOL 22).
 */
public final class KernelTime {
  /** How far the clock may be behind. */
  public static final Duration TOLERANCE = Duration.ofSeconds(2);

  private final InstantSource clock;
  private Instant highWater;

  public KernelTime(InstantSource clock, Instant highWater) {
    this.clock = clock;
    this.highWater = Timestamps.truncate(highWater);
  }

  /**
   * One reading, in milliseconds.
   *
   * @throws WritException {@code EXE-904} when the clock is behind
   */
  public synchronized Instant now() {
    Instant read = Timestamps.truncate(clock.instant());
    if (read.isBefore(highWater.minus(TOLERANCE))) {
      throw new WritException(
          ExecutorError.TIME_WENT_BACK, "clock " + read + ", ledger " + highWater);
    }
    return raise(read);
  }

  /**
   * One reading for what ends: never before the last one, and never refused. What was dispatched
   * gets its receipt also when the clock went back meanwhile.
   */
  public synchronized Instant nowOrLatest() {
    return raise(Timestamps.truncate(clock.instant()));
  }

  private Instant raise(Instant read) {
    if (read.isAfter(highWater)) {
      highWater = read;
    }
    return highWater;
  }

  /** The latest reading, without another one. */
  public synchronized Instant latest() {
    return highWater;
  }
}
