package dev.writ.executor.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until it is moved, by hand or by a step at each reading. */
public final class TestClock implements InstantSource {
  private Instant now;
  private Duration step = Duration.ZERO;

  public TestClock(Instant start) {
    this.now = start;
  }

  @Override
  public synchronized Instant instant() {
    Instant read = now;
    now = now.plus(step);
    return read;
  }

  public synchronized void set(Instant time) {
    now = time;
  }

  public synchronized void forward(Duration by) {
    now = now.plus(by);
  }

  public synchronized void back(Duration by) {
    now = now.minus(by);
  }

  /** From now on every reading moves it on by so much. */
  public synchronized void stepping(Duration by) {
    step = by;
  }
}
