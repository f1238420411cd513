package dev.writ.executor.stage;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.Runs;
import dev.writ.guardian.document.Request;
import java.util.Optional;

/**
 * What the SafeExecutor serves: decision, intent and effect, and who hands them in.
 *
 * @param request the request, whose effect this is
 * @param submitter a key whose signature over the request, or over an order to execute this intent,
 *     has been verified
 * @param pendingWrites what must be committed with the first thing that follows
 * @param run the run, borrowed for as long as this is served
 * @param holdsWorkspace whether the lock of the run's workspace is held until this is served
 * @param changes of what is in force wait until the dispatch, or what comes instead of it, is
 *     written; where they came before, nothing is
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

  /** Where what is in force stays as it is meanwhile. */
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
