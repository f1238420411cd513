package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.RunId;
import java.util.List;
import java.util.Optional;

/**
 * Receipts that an executor in another process has and this log lacks (spec/apart.md). Where the
 * executor is in this process there are none, and nothing is asked.
 */
final class AwaitedReceipts {
  private final Ledger ledger;
  private final KeyedLocks locks;
  private final Runs runs;
  private final WorkspaceWipes wipes;
  private final Optional<ApartGuardian> apart;

  AwaitedReceipts(
      Ledger ledger,
      KeyedLocks locks,
      Runs runs,
      WorkspaceWipes wipes,
      Optional<ApartGuardian> apart) {
    this.ledger = ledger;
    this.locks = locks;
    this.runs = runs;
    this.wipes = wipes;
    this.apart = apart;
  }

  /** Whether the executor is another process. */
  boolean isApart() {
    return apart.isPresent();
  }

  /**
   * Asks for each of them. What the executor does not tell is asked for again with the next call,
   * and by whoever sends the request again.
   *
   * @return how many are left
   */
  int settleAll() {
    int left = 0;
    for (DispatchedRow row : apart.map(ApartGuardian::dispatched).orElse(List.of())) {
      left += settledIfFree(row) ? 0 : 1;
    }
    return left;
  }

  /** Whose request or run somebody works on is left to them. */
  private boolean settledIfFree(DispatchedRow row) {
    Digest request = Intent.read(ledger.document(row.intent()).orElseThrow().document()).request();
    Optional<KeyedLocks.Held> own = locks.ifFree(Tables.key("request", request.hex()));
    if (own.isEmpty()) {
      return false;
    }
    try (KeyedLocks.Held _ = own.get();
        Runs.Borrowed run = runs.borrow(row.run())) {
      Optional<KeyedLocks.Held> workspace = wipes.lockIfFree(row.run());
      if (workspace.isEmpty()) {
        return false;
      }
      try (KeyedLocks.Held _ = workspace.get()) {
        settle(request, run); // it takes this lock once more, which it may
        return true;
      }
    } catch (WritException e) {
      return false;
    }
  }

  /** Another request may have the key of this one, and its receipt be awaited. */
  void settleSameKey(Request request, Digest id) {
    if (apart.isPresent()) {
      ledger
          .get(Tables.IDEMPOTENCY, ReceiptStage.idempotencyKey(request, id))
          .map(Digest::ofBytes)
          .filter(first -> !first.equals(id))
          .flatMap(first -> ledger.get(Tables.DISPATCHED, Tables.key(first)))
          .map(DispatchedRow::parse)
          .ifPresent(this::settledIfFree);
    }
  }

  /** The request's lock is held, so that nobody else waits for its end. */
  void settle(Digest request, Runs.Borrowed run) {
    if (apart.isEmpty() || ledger.get(Tables.DISPATCHED, Tables.key(request)).isEmpty()) {
      return;
    }
    try (KeyedLocks.Held _ = wipes.lock(run.id().tenant(), run.id().run())) {
      Optional<DispatchedRow> row =
          ledger.get(Tables.DISPATCHED, Tables.key(request)).map(DispatchedRow::parse);
      if (row.isPresent()) { // else another effect of the run had it settled
        apart.get().settle(row.get(), run);
      }
    }
  }

  /** Borrows the run of a request, with the request's receipt asked for. */
  Runs.Borrowed settled(RunId id, Digest request) {
    Runs.Borrowed run = runs.borrow(id);
    try {
      settle(request, run);
      return run;
    } catch (RuntimeException | Error e) {
      run.close();
      throw e;
    }
  }
}
