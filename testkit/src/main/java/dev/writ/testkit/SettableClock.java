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
   * @param start where it stands first
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

  /** Sets it, as somebody sets a clock: no time passes. */
  public synchronized void set(Instant time) {
    now = time;
  }

  /** The nanoseconds that passed, however it was set. */
  public LongSupplier elapsed() {
    return () -> {
      synchronized (this) {
        return elapsedNanos;
      }
    };
  }
}
