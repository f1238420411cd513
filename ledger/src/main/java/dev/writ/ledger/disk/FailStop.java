package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Whether the ledger has stopped: the first failure of a write, a sync, the anchor or the lock ends
 * all writing until the ledger is opened again.
 */
public final class FailStop {
  private final AtomicReference<WritException> failure = new AtomicReference<>();
  private final List<Consumer<WritException>> listeners = new CopyOnWriteArrayList<>();

  /** Stops the ledger and notifies the listeners; only the first failure counts. */
  public void stop(WritException e) {
    if (failure.compareAndSet(null, e)) {
      listeners.forEach(listener -> listener.accept(e));
    }
  }

  public Optional<WritException> failure() {
    return Optional.ofNullable(failure.get());
  }

  /**
   * @throws WritException {@code LED-022} once the ledger has stopped
   */
  public void require() {
    WritException e = failure.get();
    if (e != null) {
      throw new WritException(LedgerError.FAILED, e.getMessage(), e);
    }
  }

  /**
   * Registers a listener; it is called at once if the ledger has already stopped. It may be called
   * twice in a race.
   */
  public void listen(Consumer<WritException> listener) {
    listeners.add(listener);
    failure().ifPresent(listener);
  }
}
