package dev.writ.conform.world;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until a scenario moves it. */
final class ScenarioClock implements InstantSource {
  private final Instant start;
  private volatile Instant now;
  private volatile Duration leapt = Duration.ZERO;

  ScenarioClock(Instant start) {
    this.start = start;
    this.now = start;
  }

  /** Nanoseconds: a scenario's clock is moved by time that passes. */
  long elapsed() {
    return Duration.between(start, now).minus(leapt).toNanos();
  }

  @Override
  public Instant instant() {
    return now;
  }

  /** It is set forward or back; no time passes. */
  void leap(Duration by) {
    leapt = leapt.plus(by);
    now = now.plus(by);
  }

  void move(long seconds) {
    now = now.plusSeconds(seconds);
  }
}
