package dev.writ.gateway.pipeline;

import java.time.Duration;

/** Wakes threads that wait for new events in the ledger. */
public final class Changes {
  private long count;
  private Runnable onSystem = () -> {};

  /** Something was committed. */
  public synchronized void happened() {
    count++;
    notifyAll();
  }

  /** Registers a listener for changes of the installation's state: another policy, for example. */
  public synchronized void whenSystemChanges(Runnable listener) {
    onSystem = listener;
  }

  /** The installation's state changed. */
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

  /**
   * Waits until more has been committed than was seen, or until the time is over. Only commits of
   * this process wake it.
   */
  public synchronized void await(long seen, Duration atMost) throws InterruptedException {
    long nanos = atMost.toNanos();
    if (count == seen && nanos > 0) {
      wait(nanos / 1_000_000 + 1); // of 0 it would wait for ever
    }
  }
}
