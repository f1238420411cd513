package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One execution: queued until its turn comes, then running. A cancellation in the queue ends it
 * there; a later one ends the tool.
 */
final class EngineExecution {
  private final Digest raw;
  private final CountDownLatch over = new CountDownLatch(1);
  private Optional<Digest> request = Optional.empty();
  private Thread waiting;
  private boolean running;
  private boolean cancelled;

  /**
   * @param raw digest of the body of its call
   */
  EngineExecution(Digest raw) {
    this.raw = raw;
  }

  Digest raw() {
    return raw;
  }

  /** It was judged, under this request. */
  synchronized void judged(Digest id) {
    request = Optional.of(id);
  }

  /** The kernel's request, if there is one yet. */
  synchronized Optional<Digest> request() {
    return request;
  }

  synchronized ExecutionState state() {
    return running ? ExecutionState.Running : ExecutionState.Queued;
  }

  /** From now on this thread waits for its turn. */
  synchronized void queue() {
    waiting = Thread.currentThread();
    if (cancelled) {
      waiting.interrupt();
    }
  }

  /** It no longer waits; an interrupt for the wait is cleared. */
  private void unqueue() {
    waiting = null;
    Thread.interrupted();
  }

  /**
   * Its turn came.
   *
   * @return false where it was cancelled before that
   */
  synchronized boolean begin() {
    unqueue();
    running = !cancelled;
    return running;
  }

  /** It no longer waits, with or without its turn. */
  synchronized void leave() {
    unqueue();
  }

  synchronized boolean isCancelled() {
    return cancelled;
  }

  /**
   * Cancels it in the queue.
   *
   * @return false if it runs: then its tool must be ended
   */
  synchronized boolean cancelInTheQueue() {
    if (running) {
      return false;
    }
    cancelled = true;
    if (waiting != null) {
      waiting.interrupt();
    }
    return true;
  }

  void end() {
    over.countDown();
  }

  void await() throws InterruptedException {
    over.await();
  }

  /** Waits until it is over; returns whether it was over in time. */
  boolean await(Duration atMost) throws InterruptedException {
    return over.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
  }
}
