package dev.writ.executor;

import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for each key in use. Who finds it taken waits for the winner and then sees what the winner
 * made durable. Keys are taken in the order of their kinds (request, idempotency key, document,
 * workspace); of one kind there is one, but for documents, which are taken in the order of their
 * digests. So nobody waits in a circle.
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
    return () -> {
      counted.lock.unlock();
      synchronized (locks) {
        if (--counted.users == 0) {
          locks.remove(key);
        }
      }
    };
  }

  /** A key that is held. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }
}
