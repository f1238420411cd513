package dev.writ.gateway.pipeline;

import java.time.Duration;

/** Wakes who waits for something new in the ledger. */
public final class Changes {
  private long count;
  private Runnable onSystem = () -> {};

  /** Something was committed. */
  public synchronized void happened() {
    count++;
    notifyAll();
  }

  /** Who is told at once that the system's own state changed: another policy, for example. */
  public synchronized void whenSystemChanges(Runnable listener) {
    onSystem = listener;
  }

  /** The system's own state changed. */
  public void systemChanged() {
    Runnable listener;
    synchronized (this) {
      listener = onSystem;
    }
    listener.run();
    happened();
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
