package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
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

/**
 * Which request of a run an equal call continues: one that waits for approval, or one that an
 * approver decided and that has no outcome yet. The ledger says so; what is remembered here only
 * saves reading a run's events again. Thread safe.
 */
final class WaitingRequests {
  /** An approver's no is the answer to equal calls for so long; then one asks anew. */
  static final Duration NO_STANDS = Duration.ofMinutes(10);

  /** How far back a run that was not read yet is read, in events. */
  private static final int EVENTS_MAX = 1024;

  private static final int RUNS_MAX = 1024;
  private static final int DECIDED_MAX = 256;

  private final LedgerView ledger;

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

  WaitingRequests(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** One that was decided comes before one that still waits; of each kind the first. */
  Optional<Digest> find(RunId run, String subject, Digest effect, Instant now) {
    return decided(run, now).stream()
        .filter(id -> isOf(id, subject, effect))
        .findFirst()
        .or(() -> pending(run).stream().filter(id -> isOf(id, subject, effect)).findFirst());
  }

  /** Whether it still waits for an approver. */
  boolean waits(Digest request) {
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

  /** It has its outcome, or an approver's no was long ago. */
  private boolean isOver(Digest request, Instant decidedAt, Instant now) {
    boolean denied = row(request).filter(r -> r.state() == RequestRow.State.DENIED).isPresent();
    return ledger.get(Tables.SERVED, Tables.key(request)).isPresent()
        || denied && now.isAfter(decidedAt.plus(NO_STANDS));
  }

  private boolean isOf(Digest id, String subject, Digest effect) {
    return ledger
        .document(id)
        .filter(envelope -> envelope.payloadType().equals(Request.TYPE))
        .map(Envelope::document)
        .map(Request::read)
        .filter(request -> request.scope().subject().equals(subject))
        .filter(request -> request.effect().digest().equals(effect))
        .isPresent();
  }

  private Optional<RequestRow> row(Digest request) {
    return ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }
}
