package dev.writ.testkit;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/** A clock that stands still until a test moves it. Thread safe. */
public final class SettableClock implements InstantSource {
  private Instant now;
  private long elapsedNanos;

  /**
   * @param start its first time
   */
  public SettableClock(Instant start) {
    this.now = start;
  }

  @Override
  public synchronized Instant instant() {
    return now;
  }

  /** Lets time pass. */
  public synchronized void advance(Duration time) {
    now = now.plus(time);
    elapsedNanos += time.toNanos();
  }

  /** Sets the clock, as an administrator does: no time passes. */
  public synchronized void set(Instant time) {
    now = time;
  }

  /** Monotonic time in nanoseconds, which setting the clock does not change. */
  public LongSupplier elapsed() {
    return () -> {
      synchronized (this) {
        return elapsedNanos;
      }
    };
  }
}
