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
final class SteadyTime implements KernelTime {
  /** How far the clock may be behind. */
  static final Duration TOLERANCE = Duration.ofSeconds(2);

  private final InstantSource clock;
  private Instant highWater;

  SteadyTime(InstantSource clock, Instant highWater) {
    this.clock = clock;
    this.highWater = Timestamps.truncate(highWater);
  }

  @Override
  public synchronized Instant now(Reading what) {
    Instant read = Timestamps.truncate(clock.instant());
    if (read.isBefore(highWater.minus(TOLERANCE))) {
      throw new WritException(
          ExecutorError.TIME_WENT_BACK, "clock " + read + ", ledger " + highWater);
    }
    return raise(read);
  }

  @Override
  public synchronized Instant nowOrLatest(Reading what) {
    return raise(Timestamps.truncate(clock.instant()));
  }

  private Instant raise(Instant read) {
    if (read.isAfter(highWater)) {
      highWater = read;
    }
    return highWater;
  }

  @Override
  public synchronized Instant latest() {
    return highWater;
  }
}
