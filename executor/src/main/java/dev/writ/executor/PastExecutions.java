package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.guardian.profile.Profiles;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the ledger knows of earlier executions, for stage 7 of seed 000. Only reads. */
public final class PastExecutions implements ExecuteState {
  private static final long EVENTS_LOOKED_AT_MAX = 2_000;

  private final LedgerState ledger;
  private final Scope scope;
  private final Digest raw;
  private Optional<Digest> waiting = Optional.empty();

  /**
   * @param scope tenant, run (the trace) and subject of the caller
   * @param raw digest of the raw request
   */
  public PastExecutions(LedgerState ledger, Scope scope, Digest raw) {
    this.ledger = ledger;
    this.scope = scope;
    this.raw = raw;
  }

  @Override
  public Seen seen(String executionRequestId) {
    Optional<Envelope> taken = // the request that was dispatched under this id
        ledger
            .get(
                Tables.IDEMPOTENCY, Tables.key(scope.tenant(), scope.subject(), executionRequestId))
            .map(Digest::ofBytes)
            .flatMap(ledger::document);
    if (taken.isPresent()) {
      boolean served = ledger.get(Tables.SERVED, Tables.key(taken.get().id())).isPresent();
      return !isOfThisBody(Request.read(taken.get().document()))
          ? Seen.OTHER_BODY
          : served ? Seen.DONE : Seen.RUNNING;
    }
    return notDispatched(executionRequestId);
  }

  /**
   * The earlier request with the same body that waits for approval or execution; known after {@link
   * #seen}.
   */
  public Optional<Digest> waiting() {
    return waiting;
  }

  private Seen notDispatched(String id) {
    Seen seen = Seen.NEW;
    for (Envelope envelope : earlier(id)) {
      if (!isOfThisBody(Request.read(envelope.document()))) {
        return Seen.OTHER_BODY;
      }
      boolean denied =
          ledger
              .get(Tables.REQUEST, Tables.key(envelope.id()))
              .filter(row -> RequestRow.parse(row).state() != RequestRow.State.DENIED)
              .isEmpty();
      if (!denied) {
        waiting = Optional.of(envelope.id());
        seen = Seen.WAITING;
      }
    }
    return seen;
  }

  /** Requests of this id in the trace's run, the latest first. */
  private List<Envelope> earlier(String id) {
    RunId run = new RunId(scope.tenant(), scope.run());
    List<Envelope> found = new ArrayList<>();
    long last = ledger.head(run).map(Event::seq).orElse(-1L);
    for (long seq = last; seq >= Math.max(0, last - EVENTS_LOOKED_AT_MAX); seq--) {
      ledger
          .event(run, seq)
          .filter(event -> event.kind().equals(EventKind.REQUEST_RECEIVED))
          .flatMap(event -> ledger.document(event.body()))
          .filter(envelope -> isOf(Request.read(envelope.document()), id))
          .ifPresent(found::add);
    }
    return found;
  }

  private boolean isOf(Request earlier, String id) {
    return earlier.idempotencyKey().filter(id::equals).isPresent()
        && earlier.scope().subject().equals(scope.subject())
        && Profiles.of(earlier).isPresent();
  }

  private boolean isOfThisBody(Request earlier) {
    return earlier.origin().map(Origin::raw).filter(raw::equals).isPresent();
  }

  @Override
  public boolean executed(String id) {
    return ledger.get(Tables.EXECUTION, Tables.key(scope.tenant(), id)).isPresent()
        || ledger
            .get(Tables.IDEMPOTENCY, Tables.key(scope.tenant(), scope.subject(), id))
            .isPresent()
        || ledger
            .get(Tables.RUN, Tables.key(scope.tenant(), id))
            .filter(row -> RunState.parse(row).receipts() > 0)
            .isPresent();
  }
}
