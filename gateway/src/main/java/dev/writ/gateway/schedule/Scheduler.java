package dev.writ.gateway.schedule;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A bounded queue with fair shares (spec/scheduling.md). It has no thread of its own: callers'
 * threads wait, and a freed slot is handed to the next call. {@link FairQueue} decides; this adds
 * the clock, the policy in force, and the threads. Where a process serves several cells, each has
 * one of these, over the same {@link SharedSlots}.
 *
 * <p>Work that asks for another turn within its turn uses its own: it would wait for itself
 * otherwise.
 */
public final class Scheduler implements Lane {
  private static final long NS_PER_MS = 1_000_000;

  private final Supplier<Policy> policy;
  private final LongSupplier clock;
  private final LaneObserver observer;
  private final SharedSlots slots;
  private final ReentrantLock lock;
  private final FairQueue queue;

  /** The calls of this cell that wait or run. */
  private final Set<QueuedCall> own = Collections.newSetFromMap(new IdentityHashMap<>());

  private final ThreadLocal<Boolean> inTurn = ThreadLocal.withInitial(() -> false);
  private boolean draining;

  /** One with slots of its own. */
  public Scheduler(Supplier<Policy> policy, LongSupplier clock, LaneObserver observer) {
    this(new SharedSlots(), policy, clock, observer);
  }

  /**
   * @param slots shared with the process's other cells
   * @param policy the policy in force, read for each decision
   * @param clock in nanoseconds, as {@link System#nanoTime}; the same for all that share the slots
   */
  public Scheduler(
      SharedSlots slots, Supplier<Policy> policy, LongSupplier clock, LaneObserver observer) {
    this.slots = slots;
    this.lock = slots.lock;
    this.queue = slots.queue;
    this.policy = policy;
    this.clock = clock;
    this.observer = observer;
    slots.join(this);
  }

  /** What the policy in force says of the engine; empty where there is no policy. */
  Optional<EngineSettings> settings() {
    try {
      return Optional.of(policy.get().engine());
    } catch (RuntimeException e) {
      return Optional.empty();
    }
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
        queue.finish(call, slots.known(), clock.getAsLong());
        own.remove(call);
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
        slots.waits(call);
        try {
          await(call);
        } finally {
          slots.waitsNoMore(call);
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
      EngineSettings settings = policy.get().engine();
      slots.know(settings);
      QueuedCall call = queue.enter(ticket, settings, clock.getAsLong());
      own.add(call);
      return call;
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
        slots.waits(call).awaitNanos(left);
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
    switch (call.state()) {
      case RUNNING -> queue.finish(call, slots.known(), now); // its turn came too late: pass it on
      case WAITING -> queue.leave(call, slots.known(), now);
      case OVER -> {} // drained
    }
    own.remove(call);
    handOut();
    observer.waited(label(call.ticket), end, waited);
    return new WritException(code, "after " + waited / NS_PER_MS + " ms");
  }

  private long waited(QueuedCall call) {
    return Math.max(0, clock.getAsLong() - call.enteredNs);
  }

  private long mayWaitNs(Ticket ticket) {
    Duration ttl = Duration.ofMillis(slots.known().queue().ttlMs());
    Duration patience = ticket.patience();
    return patience.isNegative() ? 0 : (patience.compareTo(ttl) < 0 ? patience : ttl).toNanos();
  }

  private void handOut() {
    slots.handOut(this, clock.getAsLong());
  }

  /** After a change of policy more calls may run, or waiting calls may have to give up earlier. */
  public void policyChanged() {
    lock.lock();
    try {
      handOut();
      slots.wakeAll();
    } finally {
      lock.unlock();
    }
  }

  /** Refuses new and queued calls of this cell; running calls finish. */
  public void drain() {
    lock.lock();
    try {
      draining = true;
      for (QueuedCall call : own) {
        if (call.state() == QueuedCall.State.WAITING) {
          queue.leave(call, slots.known(), clock.getAsLong());
          slots.waits(call).signal();
        }
      }
      slots.leave(this);
      handOut(); // to other cells: what waited may have been in their way
    } finally {
      lock.unlock();
    }
  }

  /** How many calls of this cell wait. */
  public int waiting() {
    return count(QueuedCall.State.WAITING, _ -> true);
  }

  /** How many calls of this cell run. */
  public int running() {
    return count(QueuedCall.State.RUNNING, _ -> true);
  }

  /** How many calls of a class, and of this cell, run. */
  public int running(String resourceClass) {
    return count(
        QueuedCall.State.RUNNING, call -> call.ticket.resourceClass().equals(resourceClass));
  }

  private int count(QueuedCall.State state, Predicate<QueuedCall> which) {
    lock.lock();
    try {
      return (int) own.stream().filter(c -> c.state() == state).filter(which).count();
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
