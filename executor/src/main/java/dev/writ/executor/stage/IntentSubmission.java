package dev.writ.executor.stage;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.Runs;
import dev.writ.guardian.document.Request;
import java.util.Optional;

/**
 * The input of the SafeExecutor: decision, intent and effect, and the submitter.
 *
 * @param request the request, whose effect this is
 * @param submitter a key whose signature over the request, or over an order to execute this intent,
 *     has been verified
 * @param pendingWrites writes that must be committed with the next event
 * @param run the run, borrowed for as long as this is served
 * @param holdsWorkspace whether the lock of the run's workspace is held until this is served
 * @param changes orders the dispatch, or the refusal in its place, before the next change of the
 *     state; if a change came first, nothing is written
 */
public record IntentSubmission(
    Optional<Envelope> decision,
    Optional<Envelope> intent,
    Optional<Request> request,
    TrustedKey submitter,
    PendingWrites pendingWrites,
    Runs.Borrowed run,
    boolean holdsWorkspace,
    ChangeOrder changes) {

  /** For callers under which the state cannot change. */
  public IntentSubmission(
      Optional<Envelope> decision,
      Optional<Envelope> intent,
      Optional<Request> request,
      TrustedKey submitter,
      PendingWrites pendingWrites,
      Runs.Borrowed run,
      boolean holdsWorkspace) {
    this(decision, intent, request, submitter, pendingWrites, run, holdsWorkspace, ChangeOrder.ANY);
  }
}
