package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.profile.Profiles;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Which request of a run an equal call continues: one that waits for approval, or one that an
 * approver decided and that has no outcome yet. The ledger says so; what is remembered here only
 * saves reading a run's events again. Thread safe.
 */
public final class WaitingRequests {
  /** An approver's no is the answer to equal calls for so long; then one asks anew. */
  public static final Duration NO_STANDS = Duration.ofMinutes(10);

  /** How far back a run that was not read yet is read, in events. */
  private static final int EVENTS_MAX = 1024;

  private static final int RUNS_MAX = 1024;
  private static final int DECIDED_MAX = 256;

  private final LedgerView ledger;
  private final Supplier<SystemState> state;

  /** By run, the most recently used one last. */
  private final LinkedHashMap<RunId, Decided> read =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RunId, Decided> eldest) {
          return size() > RUNS_MAX;
        }
      };

  /** What approvers decided in a run: request and when, up to an event. */
  private static final class Decided {
    private long next;
    private final LinkedHashMap<Digest, Instant> requests = new LinkedHashMap<>();
  }

  /**
   * @param state in force
   */
  public WaitingRequests(LedgerView ledger, Supplier<SystemState> state) {
    this.ledger = ledger;
    this.state = state;
  }

  /**
   * One that was decided comes before one that still waits; of each kind the first. One that no
   * approver can approve any more is no such request: whoever calls again asks anew.
   *
   * @param equal whether a request of the run is the same as the one that is asked for
   */
  public Optional<Digest> find(RunId run, Predicate<Request> equal, Instant now) {
    return decided(run, now).stream()
        .filter(id -> is(id, equal))
        .findFirst()
        .or(() ->
            pending(run).stream()
                .filter(id -> is(id, equal))
                .filter(id -> row(id).filter(row -> canBeApproved(id, row, now)).isPresent())
                .findFirst());
  }

  /**
   * The same for a call of a surface: what the same surface asked for the same subject in the same
   * roles, with the same members, and with a profile from the same body.
   */
  public Optional<Digest> find(Pipeline.Vouched asked, Caller caller, Instant now) {
    return find(
        new RunId(asked.tenant(), asked.run()), request -> isSame(request, asked, caller), now);
  }

  private static boolean isSame(Request request, Pipeline.Vouched asked, Caller caller) {
    return request.scope().subject().equals(asked.subject())
        && request.effect().digest().equals(asked.effect().digest())
        && request.idempotencyKey().equals(asked.idempotencyKey())
        && request.consumes().equals(asked.consumes())
        && request.retention().equals("keep") == asked.keepOutput()
        && request.origin().filter(origin -> isSame(origin, asked, caller)).isPresent();
  }

  private static boolean isSame(Origin origin, Pipeline.Vouched asked, Caller caller) {
    return origin.surface().equals(asked.origin())
        && Set.copyOf(origin.roles().orElse(List.of())).equals(Set.copyOf(caller.roles()))
        && (asked.body().isEmpty() || origin.raw().equals(asked.raw()));
  }

  /** Whether it still waits for an approver. */
  public boolean waits(Digest request) {
    return row(request).filter(row -> row.state() == RequestRow.State.PENDING).isPresent();
  }

  private List<Digest> pending(RunId run) {
    List<Digest> all = new ArrayList<>();
    ledger.scan(
        Tables.PENDING,
        Tables.prefix(run.tenant(), run.run()),
        (key, _) -> all.add(Digest.parse("sha256:" + Tables.lastPart(key))));
    return all;
  }

  private synchronized List<Digest> decided(RunId run, Instant now) {
    long last = ledger.head(run).map(Event::seq).orElse(-1L);
    Decided known = read.computeIfAbsent(run, _ -> new Decided());
    for (long seq = Math.max(known.next, last - EVENTS_MAX); seq <= last; seq++) {
      ledger
          .event(run, seq)
          .filter(event -> event.kind().equals(EventKind.APPROVAL_RECEIVED))
          .ifPresent(event -> note(known, event));
    }
    known.next = last + 1;
    known.requests.entrySet().removeIf(e -> isOver(e.getKey(), e.getValue(), now));
    return known.requests.keySet().stream().filter(id -> !waits(id)).toList();
  }

  private void note(Decided known, Event event) {
    ledger
        .document(event.body())
        .map(envelope -> Approval.read(envelope.document()).request())
        .ifPresent(request -> known.requests.putLast(request, event.at()));
    if (known.requests.size() > DECIDED_MAX) {
      known.requests.pollFirstEntry();
    }
  }

  /** Not too late, and policy says the same of its surface as when it was asked. */
  private boolean canBeApproved(Digest id, RequestRow row, Instant now) {
    Policy inForce = state.get().policyInForce();
    if (row.receivedAt().plusSeconds(inForce.limits().pendingMaxS()).isBefore(now)) {
      return false;
    }
    Digest judgedUnder = decision(row).policy();
    Request request = Request.read(ledger.document(id).orElseThrow().document());
    return judgedUnder.equals(inForce.digest())
        || Profiles.of(request).isEmpty()
        || Profiles.readTheSame(
            request,
            Policy.ofCanonical(ledger.document(judgedUnder).orElseThrow().document()),
            inForce);
  }

  private Decision decision(RequestRow row) {
    return Decision.read(ledger.document(row.decision()).orElseThrow().document());
  }

  /** It has its outcome, an approver's no was long ago, or a yes came too late. */
  private boolean isOver(Digest request, Instant decidedAt, Instant now) {
    Optional<RequestRow> denied = row(request).filter(r -> r.state() == RequestRow.State.DENIED);
    return ledger.get(Tables.SERVED, Tables.key(request)).isPresent()
        || denied.isPresent() && now.isAfter(decidedAt.plus(NO_STANDS))
        || denied.filter(this::isTooLate).isPresent();
  }

  private boolean isTooLate(RequestRow denied) {
    return decision(denied)
        .refusing()
        .flatMap(check -> check.code())
        .filter(GuardianError.TEMPORAL_PENDING.code()::equals)
        .isPresent();
  }

  private boolean is(Digest id, Predicate<Request> equal) {
    return ledger
        .document(id)
        .filter(envelope -> envelope.payloadType().equals(Request.TYPE))
        .map(Envelope::document)
        .map(Request::read)
        .filter(equal)
        .isPresent();
  }

  private Optional<RequestRow> row(Digest request) {
    return ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }
}
