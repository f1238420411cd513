package dev.writ.ledger;

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
final class FailStop {
  private final AtomicReference<WritException> failure = new AtomicReference<>();
  private final List<Consumer<WritException>> listeners = new CopyOnWriteArrayList<>();

  /** Stops the ledger; only the first failure counts, and every listener hears of it once. */
  void stop(WritException e) {
    if (failure.compareAndSet(null, e)) {
      listeners.forEach(listener -> listener.accept(e));
    }
  }

  Optional<WritException> failure() {
    return Optional.ofNullable(failure.get());
  }

  /**
   * @throws WritException {@code LED-022} once the ledger has stopped
   */
  void require() {
    WritException e = failure.get();
    if (e != null) {
      throw new WritException(LedgerError.FAILED, e.getMessage(), e);
    }
  }

  /** Hears of the failure, at once where there was one. A race may tell it twice. */
  void listen(Consumer<WritException> listener) {
    listeners.add(listener);
    failure().ifPresent(listener);
  }
}
