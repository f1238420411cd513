package dev.writ.conform.world;

import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until a scenario moves it. */
final class SettableClock implements InstantSource {
  private volatile Instant now;

  SettableClock(Instant start) {
    this.now = start;
  }

  @Override
  public Instant instant() {
    return now;
  }

  void move(long seconds) {
    now = now.plusSeconds(seconds);
  }
}
