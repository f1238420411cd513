package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.StoreView.Durable;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.error.LedgerError;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Writes the anchor after commits, in a thread of its own: within a second of a commit, and at most
 * a few times a second. If it cannot be written the ledger stops, because a restored backup could
 * no longer be detected.
 */
final class AnchorKeeper {
  private final Anchors anchors;
  private final Consumer<Anchor> requireContinued;
  private final String origin;
  private final InstantSource clock;
  private final Runnable requireLock;
  private final FailStop failStop;
  private final long delayMs;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private Optional<Durable> unwritten = Optional.empty();
  private boolean closing;

  /** Written by the thread before it ends, and read only after that. */
  private Optional<WritException> failure = Optional.empty();

  /**
   * @param requireContinued throws where the log does not continue an anchor that another writer
   *     left
   */
  AnchorKeeper(
      Anchors anchors,
      Consumer<Anchor> requireContinued,
      String origin,
      InstantSource clock,
      Runnable requireLock,
      FailStop failStop,
      Workers workers) {
    this.anchors = anchors;
    this.requireContinued = requireContinued;
    this.origin = origin;
    this.clock = clock;
    this.requireLock = requireLock;
    this.failStop = failStop;
    this.delayMs = workers.anchorDelayMs();
    this.thread = workers.anchor().newThread(this::run);
  }

  void start() {
    thread.start();
  }

  /** Takes note of what is durable now; returns at once. */
  void follow(Durable durable) {
    lock.lock();
    try {
      // Where something is unwritten already the thread knows, and gathers for a while. Waking it
      // at
      // each commit would take longer than the rest of what a commit does beside its write.
      if (unwritten.isEmpty()) {
        changed.signal();
      }
      unwritten = Optional.of(durable);
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    boolean last = false;
    while (!last) {
      Optional<Durable> durable;
      lock.lock();
      try {
        while (unwritten.isEmpty() && !closing) {
          changed.awaitUninterruptibly();
        }
        gather();
        durable = unwritten;
        unwritten = Optional.empty();
        last = closing;
      } finally {
        lock.unlock();
      }
      try {
        durable.ifPresent(this::write);
      } catch (RuntimeException | Error e) {
        failure = Optional.of(failure(e));
        failStop.stop(failure.get());
        return;
      }
    }
  }

  private void write(Durable durable) {
    requireLock.run(); // must not replace another writer's anchor
    try {
      Anchor next = anchor(durable);
      anchors.writeOwn(next);
      anchors.moveShared(next, requireContinued);
    } catch (WritException e) {
      // After a sync failed elsewhere, data for this write may be lost. The anchor stays as it was,
      // and the next opening brings it up to date.
      if (e.code() != LedgerError.FAILED) {
        throw e;
      }
    }
  }

  private static WritException failure(Throwable e) {
    if (!(e instanceof WritException refusal)) {
      return new WritException(LedgerError.ANCHOR_WRITE, String.valueOf(e.getMessage()), e);
    }
    // Of a shared anchor it is not the disk that refuses. Of what does, the remedy is left out: one
    // message has one.
    return refusal.code() == LedgerError.LOCK_LOST
            || refusal.code() == LedgerError.ANCHOR_MOVED
            || !(refusal.code() instanceof LedgerError)
        ? refusal
        : new WritException(
            LedgerError.ANCHOR_WRITE, refusal.code().code() + ", " + refusal.found(), e);
  }

  private void gather() {
    long nanos = TimeUnit.MILLISECONDS.toNanos(delayMs);
    try {
      while (nanos > 0 && !closing) {
        nanos = changed.awaitNanos(nanos);
      }
    } catch (InterruptedException e) {
      // Nobody interrupts this thread on purpose; writing sooner does no harm.
    }
  }

  private Anchor anchor(Durable durable) {
    return new Anchor(
        origin,
        durable.incarnation(),
        durable.frontier().size(),
        durable.frontier().root(),
        clock.instant());
  }

  /**
   * Writes what is not written yet and returns when the thread has ended.
   *
   * @throws WritException {@code LED-014} where the anchor could not be written
   */
  void close() {
    lock.lock();
    try {
      closing = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
    Threads.join(thread);
    failure.ifPresent(e -> {
      throw new WritException(e.code(), e.found(), e);
    });
  }
}
