package dev.writ.console.oidc;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Places for calls to a provider. Addresses get them in turn, and callers of one address in the
 * order they came: whoever brings hundreds of made-up codes waits for these himself. Thread safe.
 */
final class ProviderPlaces {
  private final LinkedHashMap<String, ArrayDeque<CountDownLatch>> waiting = new LinkedHashMap<>();
  private int free;

  ProviderPlaces(int places) {
    this.free = places;
  }

  /**
   * Waits for a place, which has to be given back.
   *
   * @return false where none came in time
   */
  boolean take(String address, Duration atMost) throws InterruptedException {
    CountDownLatch turn = new CountDownLatch(1);
    synchronized (this) {
      if (free > 0) {
        free--;
        return true;
      }
      waiting.computeIfAbsent(address, _ -> new ArrayDeque<>()).add(turn);
    }
    try {
      return turn.await(atMost.toMillis(), TimeUnit.MILLISECONDS) || !leave(address, turn);
    } catch (InterruptedException e) {
      if (!leave(address, turn)) {
        giveBack();
      }
      throw e;
    }
  }

  /** Waits no more; false where the place came at that moment. */
  private synchronized boolean leave(String address, CountDownLatch turn) {
    ArrayDeque<CountDownLatch> own = waiting.get(address);
    if (own == null || !own.remove(turn)) {
      return false;
    }
    if (own.isEmpty()) {
      waiting.remove(address);
    }
    return true;
  }

  /** Gives a place to who is next. */
  synchronized void giveBack() {
    Iterator<Map.Entry<String, ArrayDeque<CountDownLatch>>> round = waiting.entrySet().iterator();
    if (!round.hasNext()) {
      free++;
      return;
    }
    Map.Entry<String, ArrayDeque<CountDownLatch>> next = round.next();
    round.remove();
    next.getValue().removeFirst().countDown();
    if (!next.getValue().isEmpty()) {
      waiting.put(next.getKey(), next.getValue()); // at the end of the round
    }
  }

  /** How many wait. */
  synchronized int waiting() {
    return waiting.values().stream().mapToInt(ArrayDeque::size).sum();
  }
}
