package dev.writ.postgres;

import java.time.Duration;

/** A moment by which something is done or given up, on the monotonic clock. */
final class Deadline {
  private static final long PAUSE_MS_FIRST = 5;
  private static final long PAUSE_MS_MAX = 500;
  private static final long PAUSE_MS_LOGIN = 3_000;

  private long end;
  private long pause = PAUSE_MS_FIRST;

  private Deadline(long end) {
    this.end = end;
  }

  static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  boolean isOver() {
    return millisLeft() <= 0;
  }

  long millisLeft() {
    return (end - System.nanoTime()) / 1_000_000;
  }

  /** Waits a little before another attempt, longer each time. */
  void pause() {
    sleep(pause);
    pause = Math.min(2 * pause, PAUSE_MS_MAX);
  }

  /** Waits before a password is tried again: what is behind the server may count attempts. */
  void pauseForLogin() {
    sleep(PAUSE_MS_LOGIN);
  }

  private void sleep(long millis) {
    try {
      Thread.sleep(Math.clamp(millisLeft(), 0, millis));
    } catch (InterruptedException e) {
      end = System.nanoTime(); // whoever interrupts does not want to wait any longer
      Thread.currentThread().interrupt();
    }
  }
}
