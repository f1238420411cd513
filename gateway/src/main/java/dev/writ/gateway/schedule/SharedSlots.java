package dev.writ.gateway.schedule;

import dev.writ.guardian.policy.engine.EngineSettings;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The slots of one process, and the one queue for them. Each cell that a gateway serves has a
 * {@link Scheduler} over it, so that {@code slots} and turns are the gateway's, however many cells
 * it owns (spec/scheduling.md).
 */
public final class SharedSlots {
  final ReentrantLock lock = new ReentrantLock();
  final FairQueue queue = new FairQueue();
  private final Map<QueuedCall, Condition> waiters = new IdentityHashMap<>();
  private final List<Scheduler> open = new ArrayList<>();
  private EngineSettings known = EngineSettings.DEFAULT;

  /** Adds a cell, whose policy counts until it drains. */
  void join(Scheduler one) {
    lock.lock();
    try {
      open.add(one);
    } finally {
      lock.unlock();
    }
  }

  /** The settings by which the last decision was made. Under the lock, like all that follows. */
  EngineSettings known() {
    return known;
  }

  void know(EngineSettings settings) {
    known = settings;
  }

  /** Where a call waits until it is told to look again. */
  Condition waits(QueuedCall call) {
    return waiters.computeIfAbsent(call, _ -> lock.newCondition());
  }

  void waitsNoMore(QueuedCall call) {
    waiters.remove(call);
  }

  /** Tells every waiting call, of all cells, to look again. */
  void wakeAll() {
    waiters.values().forEach(Condition::signal);
  }

  void leave(Scheduler one) {
    open.remove(one);
  }

  /**
   * Wakes all calls that may run now, under the policy of the cell that asks; where that has none,
   * under another cell's: the statements of policy are the same in all of them.
   */
  void handOut(Scheduler asking, long nowNs) {
    Optional<EngineSettings> settings = asking.settings();
    for (int i = 0; i < open.size() && settings.isEmpty(); i++) {
      settings = open.get(i).settings();
    }
    if (settings.isEmpty()) {
      return; // there is no policy, so no call may run
    }
    known = settings.get();
    for (Optional<QueuedCall> next = queue.next(known, nowNs);
        next.isPresent();
        next = queue.next(known, nowNs)) {
      Optional.ofNullable(waiters.get(next.get())).ifPresent(Condition::signal);
    }
  }
}
