package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.SignatureCheck;
import dev.writ.canonicalize.json.Fields;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.ExpectedRows;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;

/**
 * Admits requests under what is in force, and recognizes those that the ledger holds. For a request
 * that was received before, age counts up to its first receipt, and its outcome is returned even if
 * its age, keys, delegations or the policy would no longer admit it.
 */
final class Admissions {
  private final LedgerView ledger;
  private final KernelTime time;
  private final StateGate inForce;
  private final SignatureCheck signatures;

  Admissions(LedgerView ledger, KernelTime time, StateGate inForce, SignatureCheck signatures) {
    this.ledger = ledger;
    this.time = time;
    this.inForce = inForce;
    this.signatures = signatures;
  }

  /**
   * A request after admission, successful or not.
   *
   * @param state the state under which it was checked
   * @param receivedAt when it was first received; absent if the ledger does not have it
   * @param stored whether these very bytes are in the ledger
   * @param admitted present unless refused
   * @param refused why it may only get its earlier outcome
   */
  record Entry(
      SystemState state,
      Envelope envelope,
      Request request,
      Optional<Instant> receivedAt,
      boolean stored,
      Optional<Admitted> admitted,
      Optional<WritException> refused) {

    Digest id() {
      return envelope.id();
    }

    /**
     * The admitted request, needed for anything but returning its earlier outcome.
     *
     * @throws WritException why it is not; {@code GRD-012} for one that is too old and was never
     *     seen
     */
    Admitted require() {
      return admitted.orElseThrow(() -> {
        WritException why = refused.orElseThrow();
        boolean unseen = receivedAt.isEmpty() && why.code() == GuardianError.REQUEST_TOO_OLD;
        return unseen
            ? new WritException(GuardianError.REQUEST_NEVER_SEEN, id() + ", " + why.found(), why)
            : why;
      });
    }
  }

  /**
   * Checks a request. One that is refused may still get its earlier outcome, if the ledger holds
   * exactly these bytes or if its age is the only reason for the refusal.
   *
   * @throws WritException {@code CAN-}, {@code GRD-0xx}, {@code GRD-60x}: it is not to be answered
   */
  Entry enter(Envelope envelope) {
    SystemState state = inForce.now();
    Policy policy = state.policyInForce();
    Instant now = time.passing(KernelTime.Reading.ADMISSION);
    ledger.expect(() -> rowsOf(envelope, state));
    Optional<Instant> receivedAt = row(envelope.id()).map(RequestRow::receivedAt);
    boolean stored = receivedAt.isPresent() && isStored(envelope);
    try {
      Admitted admitted =
          Admission.readmit(
              envelope, state.trust(), policy, receivedAt.orElse(now), now, signatures);
      time.keep(now);
      return new Entry(
          state,
          envelope,
          admitted.request(),
          receivedAt,
          stored,
          Optional.of(admitted),
          Optional.empty());
    } catch (WritException e) {
      if (!stored && !isOnlyTooOld(e, envelope, state, now)) {
        throw e;
      }
      return new Entry(
          state,
          envelope,
          Request.read(envelope.document()),
          receivedAt,
          stored,
          Optional.empty(),
          Optional.of(e));
    }
  }

  /**
   * Whether the state and the ledger's row of the request are unchanged since the entry was made.
   *
   * @param row as it is now
   */
  boolean isCurrent(Entry before, Optional<RequestRow> row) {
    return inForce.now() == before.state()
        && row.map(RequestRow::receivedAt).equals(before.receivedAt());
  }

  private boolean isOnlyTooOld(
      WritException refused, Envelope envelope, SystemState state, Instant now) {
    if (refused.code() != GuardianError.REQUEST_TOO_OLD) {
      return false;
    }
    Instant asked = Request.read(envelope.document()).requestedAt();
    try {
      Admission.readmit(envelope, state.trust(), state.policyInForce(), asked, now, signatures);
      return true;
    } catch (WritException e) {
      return false; // refused for more than its age: the caller learns nothing else
    }
  }

  private boolean isStored(Envelope envelope) {
    return ledger
        .document(envelope.id())
        .filter(kept -> Arrays.equals(kept.toBytes(), envelope.toBytes()))
        .isPresent();
  }

  /** What is looked at of a request until it is judged. */
  private static ExpectedRows rowsOf(Envelope envelope, SystemState state) {
    Digest id = envelope.id();
    ExpectedRows rows = new ExpectedRows().row(Tables.REQUEST, Tables.key(id)).document(id);
    boolean isStrangers =
        envelope.signatures().stream()
            .anyMatch(signature -> state.trust().key(signature.kid()).isEmpty());
    if (isStrangers) {
      return rows; // it is refused before anybody parses it
    }
    try {
      Fields request = Fields.of("request", envelope.document());
      Scope scope = Scope.read(request);
      Optional<String> key = request.optional("idempotency_key", request::name);
      return rows.row(Tables.IDEMPOTENCY, ReceiptStage.idempotencyKey(scope, key, id))
          .row(Tables.RUN, Tables.key(scope.tenant(), scope.run()))
          .head(new RunId(scope.tenant(), scope.run()));
    } catch (WritException e) {
      return rows; // admission says what is wrong with it
    }
  }

  private Optional<RequestRow> row(Digest request) {
    return ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }
}
