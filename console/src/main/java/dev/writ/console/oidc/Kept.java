package dev.writ.console.oidc;

import dev.writ.canonicalize.WritException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Something of a provider's that is fetched and kept for a while. Callers who want it at the same
 * time wait for one fetch; after a failure they are refused for a moment without another. The clock
 * is read when the wait is over: a provider that says nothing takes seconds to fail.
 */
final class Kept<T> {
  /** For how long what was fetched counts. */
  static final Duration GOOD_FOR = Duration.ofMinutes(10);

  /** How long after a fetch, or a failure, there is no other. */
  static final Duration PAUSE = Duration.ofSeconds(5);

  private final Supplier<T> fetch;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private T value;
  private Instant fetched = Instant.MIN;
  private WritException failure;
  private Instant failed = Instant.MIN;

  Kept(Supplier<T> fetch, InstantSource clock) {
    this.fetch = fetch;
    this.clock = clock;
  }

  /**
   * @throws WritException of the fetch, or of the one that failed a moment ago
   */
  T get() {
    return notOlder(GOOD_FOR);
  }

  /** The newest that may be had, where what is kept does not do: fetched again after the pause. */
  T newer() {
    return notOlder(PAUSE);
  }

  private T notOlder(Duration age) {
    lock.lock();
    try {
      Instant now = clock.instant();
      if (value != null && isWithin(fetched, age, now)) {
        return value;
      }
      if (failure != null && isWithin(failed, PAUSE, now)) {
        throw new WritException(failure.code(), failure.found(), failure);
      }
      return fetched();
    } finally {
      lock.unlock();
    }
  }

  private T fetched() {
    try {
      value = fetch.get();
      fetched = clock.instant();
      failure = null;
      return value;
    } catch (WritException e) {
      failure = e;
      failed = clock.instant();
      throw e;
    }
  }

  /** Also where the clock went back. */
  private static boolean isWithin(Instant since, Duration time, Instant now) {
    return !since.equals(Instant.MIN)
        && !now.isBefore(since)
        && Duration.between(since, now).compareTo(time) < 0;
  }
}
