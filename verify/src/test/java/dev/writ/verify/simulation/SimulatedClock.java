package dev.writ.verify.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Time as it passes, and the host's clock, which mostly tells it. While the clock is wrong it is
 * further off than policy lets it step, forward or back.
 */
final class SimulatedClock {
  static final Instant START = Instant.parse("2026-11-21T12:00:00.000Z");

  private static final List<Duration> PAUSES =
      List.of(
          Duration.ofSeconds(1),
          Duration.ofSeconds(40),
          Duration.ofSeconds(90),
          Duration.ofMinutes(6),
          Duration.ofHours(7),
          Duration.ofDays(2));

  /** At a start only the last ones are more than may have passed. */
  private static final List<Duration> ERRORS =
      List.of(
          Duration.ofHours(2),
          Duration.ofDays(3),
          Duration.ofDays(4000),
          Duration.ofSeconds(-20),
          Duration.ofHours(-5),
          Duration.ofDays(-400));

  private static final int FIRST_AT_START = 2;

  /** How far the kernel lets the clock be behind (protocol rule 22). */
  private static final Duration TOLERANCE = Duration.ofSeconds(2);

  private final SplittableRandom random;
  private final Counts counts;
  private final IdentityHashMap<Thread, Boolean> misled = new IdentityHashMap<>();
  private Instant now = START;
  private long elapsed;
  private Duration error = Duration.ZERO;
  private boolean calm;
  private boolean started;

  /** The latest reading of this process that was right. */
  private Instant latestRight = Instant.EPOCH;

  private boolean believed;

  SimulatedClock(SplittableRandom random, Counts counts) {
    this.random = random;
    this.counts = counts;
  }

  /** The same time by another clock, which is right; it goes on for itself. */
  SimulatedClock apart(SplittableRandom other) {
    SimulatedClock clock = new SimulatedClock(other, counts);
    clock.now = now;
    clock.elapsed = elapsed;
    clock.calm = true;
    return clock;
  }

  /** What the kernel reads, under a monitor: nobody else comes in here. */
  Instant read() {
    pass(Duration.ofMillis(1 + random.nextInt(3)));
    if (!calm) {
      int dice = random.nextInt(400);
      if (dice < 2) {
        pause();
      } else if (dice == 2 && started) {
        turnWrong(0);
      } else if (dice < 40) {
        error = Duration.ZERO;
      }
    }
    Instant read = now.plus(error);
    // After a pause a clock that has fallen behind by less may not be told from one that is right.
    believed |= error.isNegative() && !read.isBefore(latestRight.minus(TOLERANCE));
    if (!isWrong()) {
      latestRight = now;
    }
    started = true;
    misled.put(Thread.currentThread(), isWrong());
    return read;
  }

  /**
   * Whether the clock misled this thread in its last reading, or this process in a reading that it
   * could not but believe: the right time may be a leap to it then, until it starts again.
   */
  boolean misled() {
    return believed || misled.getOrDefault(Thread.currentThread(), false);
  }

  /** Everybody waits, or the machine sleeps; the monotonic clock knows. */
  void pause() {
    counts.pauses++;
    pass(PAUSES.get(random.nextInt(PAUSES.size())));
  }

  void pass(Duration time) {
    now = now.plus(time);
    elapsed += time.toNanos();
  }

  /** A new process begins; its clock may be wrong from the start. */
  void restart(boolean isCalm) {
    calm = isCalm;
    started = false;
    misled.clear();
    latestRight = Instant.EPOCH;
    believed = false;
    error = Duration.ZERO;
    if (!calm && random.nextInt(40) == 0) {
      turnWrong(FIRST_AT_START);
    }
  }

  private void turnWrong(int first) {
    counts.fault("clock");
    error = ERRORS.get(random.nextInt(first, ERRORS.size()));
  }

  boolean isWrong() {
    return !error.isZero();
  }

  Instant now() {
    return now;
  }

  long elapsed() {
    return elapsed;
  }
}
