package dev.writ.sinks.feed;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long to wait after a failure: twice as long each time, up to a longest wait, and of that a
 * random part of at least half, so that many servers do not come back at the same moment.
 */
final class Backoff {
  private final Duration first;
  private final Duration longest;
  private final RandomGenerator random;
  private int failures;

  Backoff(Duration first, Duration longest, RandomGenerator random) {
    this.first = first;
    this.longest = longest;
    this.random = random;
  }

  Duration next() {
    long most = Math.min(longest.toMillis(), first.toMillis() << Math.min(failures, 30));
    failures++;
    return Duration.ofMillis(most / 2 + random.nextLong(most / 2 + 1));
  }

  void succeeded() {
    failures = 0;
  }
}
