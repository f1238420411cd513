package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.Commit;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * At start, gives every effect that was durably dispatched and has no receipt a receipt with
 * IN_DOUBT, in the order of dispatch. Executes nothing (protocol rule 18).
 */
final class Recovery {
  /** The message of the receipts. */
  static final String MESSAGE = "dispatched before the process ended; nobody saw how it went";

  private final LedgerState ledger;
  private final KernelTime time;
  private final Runs runs;
  private final ReceiptStage receipts;

  Recovery(LedgerState ledger, KernelTime time, Runs runs, ReceiptStage receipts) {
    this.ledger = ledger;
    this.time = time;
    this.runs = runs;
    this.receipts = receipts;
  }

  /**
   * @param order gives the position of events in the log
   * @return the ids of the receipts it made
   */
  List<Digest> recover(LedgerView order) {
    List<DispatchedRow> left = new ArrayList<>();
    ledger.scan(
        Tables.DISPATCHED,
        "",
        (_, value) -> {
          left.add(DispatchedRow.parse(value));
          return true;
        });
    left.sort((a, b) -> Long.compare(index(order, a), index(order, b)));
    return left.stream().map(row -> doubt(row, MESSAGE)).toList();
  }

  private static long index(LedgerView order, DispatchedRow row) {
    return order.indexOf(row.run(), row.seq()).orElseThrow();
  }

  /**
   * The receipt of one effect that was dispatched and has none.
   *
   * @param message what is known of it
   */
  Digest doubt(DispatchedRow row, String message) {
    Instant startedAt = ledger.event(row.run(), row.seq()).orElseThrow().at();
    Envelope intentEnvelope = ledger.document(row.intent()).orElseThrow();
    Intent intent = Intent.read(intentEnvelope.document());
    Envelope decisionEnvelope = ledger.document(intent.decision()).orElseThrow();
    Request request = Request.read(ledger.document(intent.request()).orElseThrow().document());
    Envelope receipt;
    try (Runs.Borrowed run = runs.borrow(row.run())) {
      Commit commit;
      try (RunTurn turn = run.turn()) {
        receipt =
            receipts.inDoubt(
                turn,
                request,
                decisionEnvelope.id(),
                Decision.read(decisionEnvelope.document()),
                intentEnvelope.id(),
                intent,
                startedAt,
                time.now(KernelTime.Reading.RECOVERY),
                WorkspaceUse.before(ledger, request.scope(), intent.request()),
                message);
        commit = turn.enqueue();
      }
      commit.await();
    }
    return receipt.id();
  }
}
