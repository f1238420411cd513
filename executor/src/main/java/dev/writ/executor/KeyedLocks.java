package dev.writ.executor;

import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for each key in use. A thread that waits for a key then sees what its former owner made
 * durable. To avoid deadlock, keys are locked in the order of their kinds (request, idempotency
 * key, document, workspace), one key of each kind, except documents, which are locked in the order
 * of their digests.
 */
final class KeyedLocks {
  private final TreeMap<String, Counted> locks = new TreeMap<>();

  private static final class Counted {
    final ReentrantLock lock = new ReentrantLock();
    int users;
  }

  /** No key at all. */
  static final Held NONE = () -> {};

  /** Waits for the key; closing the result frees it. */
  Held lock(String key) {
    Counted counted;
    synchronized (locks) {
      counted = locks.computeIfAbsent(key, _ -> new Counted());
      counted.users++;
    }
    counted.lock.lock();
    return held(key, counted);
  }

  /** The key, where nobody has it. */
  Optional<Held> ifFree(String key) {
    Counted counted;
    synchronized (locks) {
      counted = locks.computeIfAbsent(key, _ -> new Counted());
      counted.users++;
    }
    if (counted.lock.tryLock()) {
      return Optional.of(held(key, counted));
    }
    givenBack(key, counted);
    return Optional.empty();
  }

  private Held held(String key, Counted counted) {
    return () -> {
      counted.lock.unlock();
      givenBack(key, counted);
    };
  }

  private void givenBack(String key, Counted counted) {
    synchronized (locks) {
      if (--counted.users == 0) {
        locks.remove(key);
      }
    }
  }

  /** A key that is held. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }
}
