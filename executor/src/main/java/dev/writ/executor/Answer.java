package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.Decision;
import java.util.Optional;

/**
 * The answer to a request. Everything in it is on disk.
 *
 * @param intent present where the verdict is ALLOW
 * @param served present where the effect was dispatched
 * @param isKnown whether the decision was made for an earlier call
 */
public record Answer(
    Digest request,
    Envelope decisionEnvelope,
    Decision decision,
    Optional<Envelope> intent,
    Optional<Served> served,
    boolean isKnown) {

  /** Of a decision that this call led to. */
  public Answer(
      Digest request,
      Envelope decisionEnvelope,
      Decision decision,
      Optional<Envelope> intent,
      Optional<Served> served) {
    this(request, decisionEnvelope, decision, intent, served, false);
  }

  Answer withServed(Served outcome) {
    return new Answer(request, decisionEnvelope, decision, intent, Optional.of(outcome), isKnown);
  }
}
