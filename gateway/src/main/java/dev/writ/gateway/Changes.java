package dev.writ.gateway;

import java.time.Duration;

/** Wakes who waits for something new in the ledger. */
public final class Changes {
  private long count;

  /** Something was committed. */
  public synchronized void happened() {
    count++;
    notifyAll();
  }

  /** How often something happened. */
  public synchronized long count() {
    return count;
  }

  /** Waits until more has happened than was seen, or so long; commits of others make no sound. */
  public synchronized void await(long seen, Duration atMost) throws InterruptedException {
    if (count == seen) {
      wait(atMost.toMillis());
    }
  }
}
