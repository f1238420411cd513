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
 * Receipts that this log lacks though their effects have ended: an executor in another process has
 * them (spec/apart.md), or the one in this process could not sign them (spec/recovery.md).
 */
final class AwaitedReceipts {
  private final Ledger ledger;
  private final KeyedLocks locks;
  private final Runs runs;
  private final WorkspaceWipes wipes;
  private final HeldReceipts held;
  private final Optional<ApartGuardian> apart;

  AwaitedReceipts(
      Ledger ledger,
      KeyedLocks locks,
      Runs runs,
      WorkspaceWipes wipes,
      HeldReceipts held,
      Optional<ApartGuardian> apart) {
    this.ledger = ledger;
    this.locks = locks;
    this.runs = runs;
    this.wipes = wipes;
    this.held = held;
    this.apart = apart;
    held.signedBy(request -> dispatched(request).ifPresent(this::settledIfFree));
  }

  /** Whether the executor is another process. */
  boolean isApart() {
    return apart.isPresent();
  }

  /**
   * Asks for each of them, or signs it. What the executor does not tell, or still cannot sign, is
   * for the next call, and for whoever sends the request again.
   *
   * @return how many are left
   */
  int settleAll() {
    int left = 0;
    for (DispatchedRow row : apart.map(ApartGuardian::dispatched).orElse(List.of())) {
      left += settledIfFree(row) ? 0 : 1;
    }
    boolean signs = true;
    for (Digest request : held.requests()) {
      // One refusal is enough: each may take as long as a service's time is.
      signs = signs && dispatched(request).map(this::settledIfFree).orElse(true);
      left += signs ? 0 : 1;
    }
    return left;
  }

  private Optional<DispatchedRow> dispatched(Digest request) {
    return ledger.get(Tables.DISPATCHED, Tables.key(request)).map(DispatchedRow::parse);
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
        return settle(request, run); // it takes this lock once more, which it may
      }
    } catch (WritException e) {
      return false;
    }
  }

  /** Another request may have the key of this one, and its receipt be awaited. */
  void settleSameKey(Request request, Digest id) {
    if (apart.isPresent() || !held.requests().isEmpty()) {
      ledger
          .get(Tables.IDEMPOTENCY, ReceiptStage.idempotencyKey(request, id))
          .map(Digest::ofBytes)
          .filter(first -> !first.equals(id))
          .flatMap(this::dispatched)
          .ifPresent(this::settledIfFree);
    }
  }

  /**
   * The request's lock is held, so that nobody else waits for its end.
   *
   * @return whether it has its receipt, as far as anybody here can say
   */
  boolean settle(Digest request, Runs.Borrowed run) {
    if (apart.isEmpty()) {
      return held.sign(request, run);
    }
    if (dispatched(request).isEmpty()) {
      return true;
    }
    try (KeyedLocks.Held _ = wipes.lock(run.id().tenant(), run.id().run())) {
      // Else another effect of the run had it settled.
      dispatched(request).ifPresent(row -> apart.get().settle(row, run));
    }
    return true;
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
