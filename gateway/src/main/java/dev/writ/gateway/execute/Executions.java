package dev.writ.gateway.execute;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.Caller;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ExecuteRequest;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What stage 7 looks at: the ledger, the requests at work, and the seed's one allowed state, a
 * replay protection cache for ids that reached the Guardian and were not served.
 */
final class Executions {
  private static final int REMEMBERED_MAX = 100_000;
  private static final long EVENTS_LOOKED_AT_MAX = 2_000;

  private final LedgerView ledger;
  private final TreeMap<String, Digest> atWork = new TreeMap<>();
  private final Map<String, Digest> reached =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Digest> eldest) {
          return size() > REMEMBERED_MAX;
        }
      };

  Executions(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** One call's turn; what it took is given back when it is closed. */
  Turn turn(Caller caller, ExecuteRequest request, Digest raw) {
    return new Turn(caller, request, raw);
  }

  int atWork() {
    synchronized (atWork) {
      return atWork.size();
    }
  }

  /** The state as one call sees it: the first look counts for the whole call. */
  final class Turn implements ExecuteState, AutoCloseable {
    private final Caller caller;
    private final ExecuteRequest request;
    private final Digest raw;
    private Optional<Seen> seen = Optional.empty();
    private Optional<Digest> waiting = Optional.empty();
    private boolean held;

    private Turn(Caller caller, ExecuteRequest request, Digest raw) {
      this.caller = caller;
      this.request = request;
      this.raw = raw;
    }

    @Override
    public Seen seen(String executionRequestId) {
      if (seen.isEmpty()) {
        seen = Optional.of(look(executionRequestId));
      }
      return seen.get();
    }

    /** The request that came before with the same body and waits. */
    Optional<Digest> waiting() {
      return waiting;
    }

    private Seen look(String id) {
      String key = Tables.key(caller.tenant(), id);
      synchronized (atWork) {
        Digest other = atWork.putIfAbsent(key, raw);
        if (other != null) {
          return other.equals(raw) ? Seen.RUNNING : Seen.OTHER_BODY;
        }
        held = true;
      }
      Optional<Request> done =
          ledger
              .get(Tables.IDEMPOTENCY, Tables.key(caller.tenant(), caller.subject(), id))
              .map(Digest::ofBytes)
              .flatMap(ledger::document)
              .map(envelope -> Request.read(envelope.document()));
      if (done.isPresent()) {
        return isRawOf(done.get()) ? Seen.DONE : Seen.OTHER_BODY;
      }
      return before(id, key);
    }

    /** What was judged and not served: it may wait for approval. */
    private Seen before(String id, String key) {
      synchronized (reached) {
        Digest other = reached.get(key);
        if (other != null && !other.equals(raw)) {
          return Seen.OTHER_BODY;
        }
      }
      for (Envelope envelope : earlier(id)) {
        Request earlier = Request.read(envelope.document());
        if (!isRawOf(earlier)) {
          return Seen.OTHER_BODY;
        }
        RequestRow.State state =
            ledger
                .get(Tables.REQUEST, Tables.key(envelope.id()))
                .map(row -> RequestRow.parse(row).state())
                .orElse(RequestRow.State.DENIED);
        if (state != RequestRow.State.DENIED) {
          waiting = Optional.of(envelope.id());
          return Seen.WAITING;
        }
      }
      return Seen.NEW;
    }

    /** Requests of this id in the trace's run, the latest first. */
    private List<Envelope> earlier(String id) {
      List<Envelope> found = new ArrayList<>();
      Optional<RunId> run = request.traceId().map(trace -> new RunId(caller.tenant(), trace));
      if (run.isEmpty() || ledger.head(run.get()).isEmpty()) {
        return found;
      }
      long from =
          Math.max(0, ledger.head(run.get()).orElseThrow().seq() - EVENTS_LOOKED_AT_MAX);
      ledger.events(
          run.get(),
          from,
          event -> {
            if (event.kind().equals(EventKind.REQUEST_RECEIVED)) {
              ledger
                  .document(event.body())
                  .filter(envelope -> isOf(Request.read(envelope.document()), id))
                  .ifPresent(found::addFirst);
            }
          });
      return found;
    }

    private boolean isOf(Request earlier, String id) {
      return earlier.idempotencyKey().filter(id::equals).isPresent()
          && earlier.scope().subject().equals(caller.subject())
          && earlier.origin().map(Origin::surface).filter(ExecuteAdmission.PROFILE::equals).isPresent();
    }

    private boolean isRawOf(Request earlier) {
      return earlier.origin().map(Origin::raw).filter(raw::equals).isPresent();
    }

    @Override
    public boolean executed(String id) {
      return ledger.get(Tables.EXECUTION, Tables.key(caller.tenant(), id)).isPresent()
          || ledger
              .get(Tables.IDEMPOTENCY, Tables.key(caller.tenant(), caller.subject(), id))
              .isPresent()
          || ledger
              .get(Tables.RUN, Tables.key(caller.tenant(), id))
              .filter(row -> RunState.parse(row).receipts() > 0)
              .isPresent();
    }

    /** From now on this id belongs to this body. */
    void reached() {
      synchronized (reached) {
        reached.put(Tables.key(caller.tenant(), request.requestId().orElseThrow()), raw);
      }
    }

    @Override
    public void close() {
      if (held) {
        synchronized (atWork) {
          atWork.remove(Tables.key(caller.tenant(), request.requestId().orElseThrow()));
        }
      }
    }
  }
}
