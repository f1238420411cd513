package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.ledger.Commit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;

/**
 * The state of the installation, and the order between its changes and what is done under it.
 * However long a thread was paused: what it writes under a state stands in the log before the next
 * change of that state, or is not written.
 */
final class StateGate {
  private final ReentrantReadWriteLock order = new ReentrantReadWriteLock();
  private volatile SystemState state;

  StateGate(SystemState state) {
    this.state = state;
  }

  SystemState now() {
    return state;
  }

  /** Orders writes that are made under this state. */
  ChangeOrder under(SystemState used) {
    return () -> {
      order.readLock().lock();
      if (state != used) {
        order.readLock().unlock();
        throw new WritException(ExecutorError.STATE_MOVED, "");
      }
      return () -> order.readLock().unlock();
    };
  }

  /** Does something under the state in force, which does not change meanwhile. */
  <T> T during(Function<SystemState, T> work) {
    order.readLock().lock();
    try {
      return work.apply(state);
    } finally {
      order.readLock().unlock();
    }
  }

  /** The next state, and the commit of its event. */
  record Change(SystemState next, Commit commit) {}

  /** Changes the state, one change at a time; returns when its event is durable. */
  void change(Function<SystemState, Change> change) {
    Change made;
    order.writeLock().lock();
    try {
      made = change.apply(state);
      state = made.next();
    } finally {
      order.writeLock().unlock();
    }
    made.commit().await();
  }
}
