package dev.writ.executor.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until it is moved, by hand or by a step at each reading. */
public final class TestClock implements InstantSource {
  private Instant now;
  private Duration step = Duration.ZERO;
  private Duration elapsed = Duration.ZERO;

  public TestClock(Instant start) {
    this.now = start;
  }

  @Override
  public synchronized Instant instant() {
    Instant read = now;
    pass(step);
    return read;
  }

  public synchronized void set(Instant time) {
    if (time.isAfter(now)) {
      pass(Duration.between(now, time));
    }
    now = time;
  }

  public synchronized void forward(Duration by) {
    pass(by);
  }

  private void pass(Duration by) {
    now = now.plus(by);
    elapsed = elapsed.plus(by);
  }

  /** What passed, in nanoseconds, however the clock leapt. */
  public synchronized long elapsed() {
    return elapsed.toNanos();
  }

  /** Forward or back, without any time passing. */
  public synchronized void leap(Duration by) {
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
