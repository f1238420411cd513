package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One execution at work: queued until its turn comes, then running. Who cancels it in the queue
 * ends it there; who cancels it later ends the tool.
 */
final class EngineExecution {
  private final Digest raw;
  private final CountDownLatch over = new CountDownLatch(1);
  private Optional<Digest> request = Optional.empty();
  private Thread waiting;
  private boolean running;
  private boolean cancelled;

  /**
   * @param raw digest of the body that asked for it
   */
  EngineExecution(Digest raw) {
    this.raw = raw;
  }

  Digest raw() {
    return raw;
  }

  /** It was judged, as that request. */
  synchronized void judged(Digest id) {
    request = Optional.of(id);
  }

  /** The kernel's request, once there is one. */
  synchronized Optional<Digest> request() {
    return request;
  }

  synchronized ExecutionState state() {
    return running ? ExecutionState.Running : ExecutionState.Queued;
  }

  /** This thread waits for its turn from now on. */
  synchronized void queue() {
    waiting = Thread.currentThread();
    if (cancelled) {
      waiting.interrupt();
    }
  }

  /** Its turn has come, or will not: an interrupt was for the waiting alone. */
  private void unqueue() {
    waiting = null;
    Thread.interrupted();
  }

  /**
   * Its turn has come.
   *
   * @return false where it was cancelled before that
   */
  synchronized boolean begin() {
    unqueue();
    running = !cancelled;
    return running;
  }

  /** It does not wait any more, whether its turn came or not. */
  synchronized void leave() {
    unqueue();
  }

  synchronized boolean isCancelled() {
    return cancelled;
  }

  /**
   * Ends it where it waits.
   *
   * @return false where it runs: then its tool is what has to be ended
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

  /** Whether it was over within that time. */
  boolean await(Duration atMost) throws InterruptedException {
    return over.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
  }
}
