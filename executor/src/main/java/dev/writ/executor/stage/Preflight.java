package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.PendingWrites.Issued;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import java.util.Optional;

/** Stage 0: all three documents are present and well-formed. Nothing is verified yet. */
public final class Preflight {

  /**
   * The three documents, read but not verified.
   *
   * @param effectDigest recomputed from the effect
   */
  public record Order(
      IntentSubmission submission,
      Envelope decisionEnvelope,
      Decision decision,
      Envelope intentEnvelope,
      Intent intent,
      Request request,
      Digest effectDigest) {}

  /**
   * @throws WritException {@code EXE-001} to {@code EXE-004}, {@code CAN-0xx}
   */
  public Order check(IntentSubmission submission) {
    Envelope decision =
        submission
            .decision()
            .orElseThrow(() -> new WritException(ExecutorError.MISSING_DECISION, ""));
    Envelope intent =
        submission.intent().orElseThrow(() -> new WritException(ExecutorError.MISSING_INTENT, ""));
    Request request =
        submission.request().orElseThrow(() -> new WritException(ExecutorError.MISSING_EFFECT, ""));
    requireType(decision, Decision.TYPE);
    requireType(intent, Intent.TYPE);
    // Signed here a moment ago: these very envelopes are known to hold these documents.
    Optional<Issued> issued =
        submission
            .pendingWrites()
            .issued()
            .filter(i -> i.decision().envelope() == decision && i.intent().envelope() == intent);
    return new Order(
        submission,
        decision,
        issued
            .map(i -> i.decision().document())
            .orElseGet(() -> Decision.read(decision.document())),
        intent,
        issued.map(i -> i.intent().document()).orElseGet(() -> Intent.read(intent.document())),
        request,
        request.effect().digest());
  }

  private static void requireType(Envelope envelope, String type) {
    if (!envelope.payloadType().equals(type)) {
      throw new WritException(
          ExecutorError.MALFORMED, envelope.payloadType() + " instead of " + type);
    }
  }
}
