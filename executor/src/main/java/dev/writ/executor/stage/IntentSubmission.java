package dev.writ.executor.stage;

import dev.writ.canonicalize.WritException;
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
 * @param givenUp why stage 3 refuses it, before it looks at anything; absent for what is to be
 *     dispatched
 */
public record IntentSubmission(
    Optional<Envelope> decision,
    Optional<Envelope> intent,
    Optional<Request> request,
    TrustedKey submitter,
    PendingWrites pendingWrites,
    Runs.Borrowed run,
    boolean holdsWorkspace,
    ChangeOrder changes,
    Optional<WritException> givenUp) {

  /** For callers under which the state cannot change. */
  public IntentSubmission(
      Optional<Envelope> decision,
      Optional<Envelope> intent,
      Optional<Request> request,
      TrustedKey submitter,
      PendingWrites pendingWrites,
      Runs.Borrowed run,
      boolean holdsWorkspace) {
    this(
        decision,
        intent,
        request,
        submitter,
        pendingWrites,
        run,
        holdsWorkspace,
        ChangeOrder.ANY,
        Optional.empty());
  }

  /** The same, given up. */
  public IntentSubmission givenUp(WritException why) {
    return new IntentSubmission(
        decision,
        intent,
        request,
        submitter,
        pendingWrites,
        run,
        holdsWorkspace,
        changes,
        Optional.of(why));
  }
}
