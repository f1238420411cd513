package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.guardian.Accounting;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Refusal;
import dev.writ.ledger.Commit;
import dev.writ.ledger.LedgerState;
import java.time.Instant;
import java.util.Optional;

/**
 * Records that an issued intent was refused before dispatch, and releases its reservation. The
 * request may then be judged again.
 */
public final class Refusals {
  private final LedgerState ledger;
  private final DocumentSigner signer;
  private final Accounting accounts;

  public Refusals(LedgerState ledger, DocumentSigner signer, Accounting accounts) {
    this.ledger = ledger;
    this.signer = signer;
    this.accounts = accounts;
  }

  public void write(Order order, String stage, WritException refused, Instant at) {
    String key = Tables.key(order.decision().request());
    Optional<RequestRow> row = ledger.get(Tables.REQUEST, key).map(RequestRow::parse);
    boolean writtenBefore =
        order.submission().pendingWrites() == PendingWrites.nothing()
            && row.filter(r -> r.state() == RequestRow.State.LAPSED).isPresent();
    if (writtenBefore) {
      return; // else a holder could fill the journal with an expired intent
    }
    Refusal refusal =
        new Refusal(
            order.request().scope(),
            order.decision().request(),
            order.decisionEnvelope().id(),
            order.intentEnvelope().id(),
            stage,
            refused.code().code(),
            Result.bounded(refused.found()),
            refused instanceof ObservedException more
                ? Optional.of(more.observed())
                : Optional.empty(),
            at);
    Envelope envelope;
    try {
      envelope = signer.sign(Refusal.TYPE, refusal, Refusal::toJson, Refusal::read).envelope();
    } catch (RuntimeException e) {
      refused.addSuppressed(e); // nothing was dispatched; the next attempt may record it
      return;
    }
    Commit commit;
    try (RunTurn turn = order.submission().run().turn().before(order.submission().changes())) {
      order.submission().pendingWrites().writeTo(turn);
      turn.event(EventKind.EFFECT_REFUSED, envelope.id(), at);
      turn.batch()
          .document(envelope)
          .put(
              Tables.REQUEST,
              key,
              new RequestRow(
                      order.submission().run().id(),
                      RequestRow.State.LAPSED,
                      order.decisionEnvelope().id(),
                      Optional.of(order.intentEnvelope().id()),
                      JudgeInputs.read(order.decision().inputs()).receivedAt())
                  .toBytes());
      Digest request = order.decision().request();
      commit = ReceiptStage.enqueue(turn, accounts, request, accounts.release(request));
    }
    commit.await();
    accounts.durable(order.decision().request());
  }
}
