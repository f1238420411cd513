package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.KernelTime;
import dev.writ.guardian.policy.limit.ClockLimits;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Time that never goes back and never leaps: the later of the clock and the latest time in the
 * ledger. If the clock is more than two seconds behind the ledger (protocol rule 22), or further
 * ahead than policy allows, every reading is refused. A refused reading changes nothing, so work
 * goes on once the clock is right again; and so it is with a {@link #look}, and with a {@link
 * #passing} reading that is not kept.
 */
final class SteadyTime implements KernelTime {
  /** How far the clock may be behind. */
  static final Duration TOLERANCE = Duration.ofSeconds(2);

  private final InstantSource clock;
  private final LongSupplier elapsed;
  private final Supplier<ClockLimits> limits;
  private Instant highWater;

  /** The latest reading, looks included: from there on a leap is measured. */
  private Instant seen;

  /** Monotonic time when that rose last. */
  private long seenAt;

  /** Monotonic time, from {@link #elapsed}, when the high-water mark rose last. */
  private long raisedAt;

  /**
   * Whether this process has read the clock yet: before that, it cannot tell how much time passed.
   */
  private boolean running;

  /**
   * @param elapsed monotonic time in nanoseconds, from any origin
   * @param highWater the latest time in the ledger; the epoch for an empty one, which accepts any
   *     time
   */
  SteadyTime(
      InstantSource clock, LongSupplier elapsed, Supplier<ClockLimits> limits, Instant highWater) {
    this.clock = clock;
    this.elapsed = elapsed;
    this.limits = limits;
    this.highWater = Timestamps.truncate(highWater);
    this.seen = this.highWater;
  }

  @Override
  public synchronized Instant now(Reading what) {
    Instant read = Timestamps.truncate(clock.instant());
    long elapsedNow = elapsed.getAsLong();
    requireFitting(read, elapsedNow);
    return raise(read, elapsedNow);
  }

  @Override
  public synchronized Instant look() {
    Instant read = Timestamps.truncate(clock.instant());
    long elapsedNow = elapsed.getAsLong();
    requireFitting(read, elapsedNow);
    see(read, elapsedNow);
    return read.isAfter(highWater) ? read : highWater;
  }

  @Override
  public Instant passing(Reading what) {
    return look();
  }

  @Override
  public synchronized void keep(Instant passing) {
    raise(passing, elapsed.getAsLong());
  }

  private void requireFitting(Instant read, long elapsedNow) {
    if (read.isBefore(highWater.minus(TOLERANCE))) {
      throw new WritException(
          ExecutorError.TIME_WENT_BACK, "clock " + read + ", ledger " + highWater);
    }
    requireNoLeap(read, elapsedNow);
    if (!running) {
      running = true;
      raisedAt = elapsedNow;
      seenAt = elapsedNow;
    }
  }

  @Override
  public synchronized Instant nowOrLatest(Reading what) {
    Instant read = Timestamps.truncate(clock.instant());
    long elapsedNow = elapsed.getAsLong();
    boolean leapt = read.isAfter(highest(elapsedNow));
    return raise(leapt ? highWater.plus(passed(raisedAt, elapsedNow)) : read, elapsedNow);
  }

  private void requireNoLeap(Instant read, long elapsedNow) {
    if (!read.isAfter(highest(elapsedNow))) {
      return;
    }
    throw new WritException(
        ExecutorError.TIME_LEAPT,
        "clock "
            + read
            + ", ledger "
            + seen
            + (running
                ? ", "
                    + passed(seenAt, elapsedNow).toSeconds()
                    + " s passed since; policy lets it step "
                    + limits.get().step().toSeconds()
                    + " s"
                : "; policy lets an installation stand idle for "
                    + limits.get().idle().toSeconds()
                    + " s"));
  }

  /** The latest clock reading that is accepted. */
  private Instant highest(long elapsedNow) {
    if (seen.equals(Instant.EPOCH)) {
      return Instant.MAX;
    }
    return running
        ? seen.plus(passed(seenAt, elapsedNow)).plus(limits.get().step())
        : seen.plus(limits.get().idle());
  }

  /** Truncated, as every time is. */
  private Duration passed(long since, long elapsedNow) {
    return running ? Duration.ofMillis(Math.max(0, elapsedNow - since) / 1_000_000) : Duration.ZERO;
  }

  private void see(Instant read, long elapsedNow) {
    if (read.isAfter(seen)) {
      seen = read;
      seenAt = elapsedNow;
    }
  }

  private Instant raise(Instant read, long elapsedNow) {
    if (read.isAfter(highWater)) {
      highWater = read;
      raisedAt = elapsedNow;
      see(read, elapsedNow);
    }
    return highWater;
  }

  @Override
  public synchronized Instant latest() {
    return highWater;
  }
}
