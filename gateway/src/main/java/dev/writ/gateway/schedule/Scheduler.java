package dev.writ.gateway.schedule;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.policy.EngineSettings;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.ResourceClasses;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A bounded queue with fair shares (spec/scheduling.md). It has no thread of its own: callers'
 * threads wait, and a freed slot is handed to the next call. {@link FairQueue} decides; this adds
 * the clock, the policy in force, and the threads.
 *
 * <p>Work that asks for another turn within its turn uses its own: it would wait for itself
 * otherwise.
 */
public final class Scheduler implements Lane {
  private static final long NS_PER_MS = 1_000_000;

  private final Supplier<Policy> policy;
  private final LongSupplier clock;
  private final LaneObserver observer;
  private final ReentrantLock lock = new ReentrantLock();
  private final FairQueue queue = new FairQueue();
  private final Map<QueuedCall, Condition> waiters = new IdentityHashMap<>();
  private EngineSettings known = EngineSettings.DEFAULT;
  private final ThreadLocal<Boolean> inTurn = ThreadLocal.withInitial(() -> false);
  private boolean draining;

  /**
   * @param policy the policy in force, read for each decision
   * @param clock in nanoseconds, as {@link System#nanoTime}
   */
  public Scheduler(Supplier<Policy> policy, LongSupplier clock, LaneObserver observer) {
    this.policy = policy;
    this.clock = clock;
    this.observer = observer;
  }

  /**
   * @throws WritException {@code GWY-080} to {@code GWY-084}, and {@code GWY-027} where the server
   *     shuts down; the work was not begun then
   */
  @Override
  public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
    if (inTurn.get()) {
      return new Ran<>(work.get(), 0);
    }
    QueuedCall call = awaitTurn(ticket);
    inTurn.set(true);
    try {
      observer.waited(label(ticket), LaneObserver.End.TURN, call.waitedNs());
      return new Ran<>(work.get(), call.waitedNs() / NS_PER_MS);
    } finally {
      inTurn.remove();
      lock.lock();
      try {
        queue.finish(call, known, clock.getAsLong());
        handOut();
      } finally {
        lock.unlock();
      }
    }
  }

  private QueuedCall awaitTurn(Ticket ticket) {
    lock.lock();
    try {
      QueuedCall call = enter(ticket);
      handOut();
      if (call.state() != QueuedCall.State.RUNNING) {
        waiters.put(call, lock.newCondition());
        try {
          await(call);
        } finally {
          waiters.remove(call);
        }
      }
      return call;
    } finally {
      lock.unlock();
    }
  }

  private QueuedCall enter(Ticket ticket) {
    try {
      if (draining) {
        throw new WritException(GatewayError.DRAINING, "");
      }
      known = policy.get().engine();
      return queue.enter(ticket, known, clock.getAsLong());
    } catch (WritException e) {
      observer.waited(label(ticket), LaneObserver.End.REFUSED, 0);
      throw e;
    }
  }

  /**
   * Returns when the call has its turn; on an exception it has left the queue and holds no slot. An
   * interrupted call does not begin even if its turn came at the same moment, since no interrupted
   * thread may enter the kernel.
   */
  private void await(QueuedCall call) {
    while (call.state() != QueuedCall.State.RUNNING) {
      if (draining) {
        throw out(call, LaneObserver.End.DRAINED, GatewayError.DRAINING);
      }
      long left = mayWaitNs(call.ticket) - waited(call);
      if (left <= 0) {
        throw out(call, LaneObserver.End.EXPIRED, LaneError.QUEUE_TTL);
      }
      try {
        waiters.get(call).awaitNanos(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (Thread.currentThread().isInterrupted()) {
        throw out(call, LaneObserver.End.GIVEN_UP, LaneError.GIVEN_UP);
      }
    }
  }

  private WritException out(QueuedCall call, LaneObserver.End end, ErrorCode code) {
    long waited = waited(call);
    long now = clock.getAsLong();
    if (call.state() == QueuedCall.State.RUNNING) {
      queue.finish(call, known, now); // its turn came at the last moment: pass it on
    } else {
      queue.leave(call, known, now);
    }
    handOut();
    observer.waited(label(call.ticket), end, waited);
    return new WritException(code, "after " + waited / NS_PER_MS + " ms");
  }

  private long waited(QueuedCall call) {
    return Math.max(0, clock.getAsLong() - call.enteredNs);
  }

  private long mayWaitNs(Ticket ticket) {
    Duration ttl = Duration.ofMillis(known.queue().ttlMs());
    Duration patience = ticket.patience();
    return patience.isNegative() ? 0 : (patience.compareTo(ttl) < 0 ? patience : ttl).toNanos();
  }

  /** Wakes all calls that may run now, under the policy in force. */
  private void handOut() {
    try {
      known = policy.get().engine();
    } catch (RuntimeException e) {
      return; // there is no policy, so no call may run
    }
    for (Optional<QueuedCall> next = next(); next.isPresent(); next = next()) {
      Optional.ofNullable(waiters.get(next.get())).ifPresent(Condition::signal);
    }
  }

  private Optional<QueuedCall> next() {
    return draining ? Optional.empty() : queue.next(known, clock.getAsLong());
  }

  /** After a change of policy more calls may run, or waiting calls may have to give up earlier. */
  public void policyChanged() {
    lock.lock();
    try {
      handOut();
      waiters.values().forEach(Condition::signal);
    } finally {
      lock.unlock();
    }
  }

  /** Refuses new and queued calls; running calls finish. */
  public void drain() {
    lock.lock();
    try {
      draining = true;
      waiters.values().forEach(Condition::signal);
    } finally {
      lock.unlock();
    }
  }

  /** How many wait. */
  public int waiting() {
    lock.lock();
    try {
      return queue.waiting();
    } finally {
      lock.unlock();
    }
  }

  /** How many run. */
  public int running() {
    lock.lock();
    try {
      return queue.running();
    } finally {
      lock.unlock();
    }
  }

  /** How many of a class run. */
  public int running(String resourceClass) {
    lock.lock();
    try {
      return queue.running(resourceClass);
    } finally {
      lock.unlock();
    }
  }

  /** A class's name for labels: callers may send any name, so unknown ones get one label. */
  private static String label(Ticket ticket) {
    return ResourceClasses.NAMES.contains(ticket.resourceClass())
        ? ticket.resourceClass()
        : "other";
  }
}
