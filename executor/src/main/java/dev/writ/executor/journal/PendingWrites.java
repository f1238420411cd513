package dev.writ.executor.journal;

import dev.writ.canonicalize.dsse.DocumentSigner.Signed;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import java.util.Optional;

/**
 * The writes before a dispatch that are not committed yet: the request, its decision and its
 * intent, with their rows. They are committed in the batch of the next event, so that a pure effect
 * costs one commit (protocol rule 13). Empty if the intent was committed before.
 */
@FunctionalInterface
public interface PendingWrites {
  static PendingWrites nothing() {
    return _ -> {};
  }

  void writeTo(RunTurn turn);

  /**
   * Whether the request was unknown to the ledger when the locks of request and idempotency key
   * were taken. They are still held, so the ledger need not be asked again.
   */
  default boolean isOfNewRequest() {
    return false;
  }

  /** The signed request, where it is one of these writes. */
  default Optional<Envelope> request() {
    return Optional.empty();
  }

  /** A decision and its intent with the envelopes in which this process signed them. */
  record Issued(Signed<Decision> decision, Signed<Intent> intent) {}

  /** What was issued just now, which need not be read out of its envelopes again. */
  default Optional<Issued> issued() {
    return Optional.empty();
  }
}
