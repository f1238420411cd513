package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.Deletions;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerState;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Returns the stored outcome of a request that was served, with the same bytes, and refuses one
 * that is running. Asked after the Gate and before the check of the expiry, under the locks of
 * request and idempotency key (protocol rules 1, 2 and 11).
 */
public final class Idempotency {
  private final LedgerState ledger;

  public Idempotency(LedgerState ledger) {
    this.ledger = ledger;
  }

  /**
   * @return the stored outcome; empty if there is none yet
   * @throws WritException {@code EXE-108} to {@code EXE-111}
   */
  public Optional<Served> find(Order order) {
    Digest request = order.decision().request();
    requireIssued(order, request);
    if (order.submission().pendingWrites().isOfNewRequest()) {
      return Optional.empty(); // its key was looked up while locked
    }
    Optional<Served> served = served(request);
    if (served.isPresent()) {
      return served;
    }
    requireNotRunning(request);
    return sameKey(order.request(), request, order::effectDigest);
  }

  /**
   * The outcome of another request under the same idempotency key, for the same effect.
   *
   * @throws WritException {@code EXE-110} if it was for another effect
   */
  public Optional<Served> sameKey(
      Request request, Digest requestId, Supplier<Digest> effectDigest) {
    Optional<Digest> first =
        ledger
            .get(Tables.IDEMPOTENCY, ReceiptStage.idempotencyKey(request, requestId))
            .map(Digest::ofBytes);
    if (first.isEmpty() || first.get().equals(requestId)) {
      return Optional.empty();
    }
    Digest effect = effectDigest.get();
    Digest firstEffect = request(first.get()).effect().digest();
    if (!firstEffect.equals(effect)) {
      throw new WritException(
          ExecutorError.KEY_REUSED, "effect " + firstEffect + ", now " + effect);
    }
    Optional<Served> served = served(first.get());
    if (served.isEmpty()) {
      requireNotRunning(first.get());
    }
    return served;
  }

  /** The stored outcome of a request. */
  public Optional<Served> served(Digest request) {
    return ledger.get(Tables.SERVED, Tables.key(request)).map(Digest::ofBytes).map(this::receipt);
  }

  /**
   * The receipt for a repeat, with its resolution, and with its output if that was retained and not
   * deleted since.
   */
  public Served receipt(Digest id) {
    Envelope envelope = envelope(id);
    Receipt receipt = Receipt.read(envelope.document());
    Optional<byte[]> output =
        receipt
            .output()
            .filter(_ -> receipt.retained())
            .flatMap(content ->
                Deletions.read(ledger, content.digest(), content.size(), receipt.scope().tenant()));
    Optional<Envelope> resolution =
        ledger
            .get(Tables.DOUBT, Tables.key(id))
            .filter(row -> row.length == Digest.LENGTH)
            .flatMap(row -> ledger.document(Digest.ofBytes(row)));
    return new Served(envelope, receipt, resolution, output, Optional.empty(), true);
  }

  /** A receipt's document alone. */
  public Receipt document(Digest id) {
    return Receipt.read(envelope(id).document());
  }

  private Envelope envelope(Digest id) {
    return ledger
        .document(id)
        .filter(e -> e.payloadType().equals(Receipt.TYPE))
        .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, id.toString()));
  }

  /** A request's document out of the ledger. */
  public Request request(Digest id) {
    return ledger
        .document(id)
        .filter(e -> e.payloadType().equals(Request.TYPE))
        .map(e -> Request.read(e.document()))
        .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, id.toString()));
  }

  /**
   * Refuses an intent that was refused before: its reservation was released, so it must not be
   * dispatched later.
   *
   * @throws WritException {@code EXE-111}
   */
  public void requireLive(Order order) {
    if (order.submission().pendingWrites() == PendingWrites.nothing()) {
      Digest request = order.decision().request();
      ledger
          .get(Tables.REQUEST, Tables.key(request))
          .map(RequestRow::parse)
          .filter(row -> row.state() == RequestRow.State.ALLOWED)
          .orElseThrow(() ->
              new WritException(
                  ExecutorError.SUPERSEDED,
                  "intent " + order.intentEnvelope().id() + " was refused before"));
    }
  }

  private void requireIssued(Order order, Digest request) {
    if (order.submission().pendingWrites() != PendingWrites.nothing()) {
      return; // just issued; committed with the next event
    }
    RequestRow row =
        ledger
            .get(Tables.REQUEST, Tables.key(request))
            .map(RequestRow::parse)
            .orElseThrow(() ->
                new WritException(
                    ExecutorError.NOT_ISSUED, order.intentEnvelope().id().toString()));
    Optional<Digest> issued = row.intent();
    if (issued.isEmpty()) {
      throw new WritException(ExecutorError.NOT_ISSUED, order.intentEnvelope().id().toString());
    }
    if (!issued.get().equals(order.intentEnvelope().id())) {
      throw new WritException(
          ExecutorError.SUPERSEDED,
          "intent " + order.intentEnvelope().id() + ", live is " + issued.get());
    }
  }

  /**
   * @throws WritException {@code EXE-109} where the request was dispatched and has no receipt
   */
  public void requireNotRunning(Digest request) {
    if (ledger.get(Tables.DISPATCHED, Tables.key(request)).isPresent()) {
      throw new WritException(ExecutorError.RUNNING, "request " + request);
    }
  }
}
