package dev.writ.surfaces.execute;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.PastExecutions;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.profile.ExecuteRequest;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.ledger.LedgerView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The state that stage 7 reads: the ledger, the requests at work, and the only cache that the seed
 * allows, which protects against replay of ids that reached the Guardian and were not served.
 */
final class Executions {
  private static final int REMEMBERED_MAX = 100_000;

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

  /** Reserves an id for one call; closing releases it. */
  Turn turn(Caller caller, ExecuteRequest request, Digest raw) {
    return new Turn(caller, request, raw);
  }

  int atWork() {
    synchronized (atWork) {
      return atWork.size();
    }
  }

  /** The state as one call sees it: its first look-up counts for the whole call. */
  final class Turn implements ExecuteState, AutoCloseable {
    private final Caller caller;
    private final ExecuteRequest request;
    private final Digest raw;
    private Optional<Seen> seen = Optional.empty();
    private final PastExecutions written;
    private boolean held;

    private Turn(Caller caller, ExecuteRequest request, Digest raw) {
      this.caller = caller;
      this.request = request;
      this.raw = raw;
      this.written =
          new PastExecutions(
              ledger,
              new Scope(
                  caller.tenant(),
                  request.traceId().orElse(ExecuteSurface.RUN_OF_NOTHING),
                  caller.subject()),
              raw);
    }

    @Override
    public Seen seen(String executionRequestId) {
      if (seen.isEmpty()) {
        seen = Optional.of(look(executionRequestId));
      }
      return seen.get();
    }

    /** The earlier request with the same body that waits. */
    Optional<Digest> waiting() {
      return written.waiting();
    }

    /** Ids belong to a subject: those of other subjects never influence its answers. */
    private String key(String id) {
      return Tables.key(caller.tenant(), caller.subject(), id);
    }

    private Seen look(String id) {
      String key = key(id);
      synchronized (atWork) {
        Digest other = atWork.putIfAbsent(key, raw);
        if (other != null) {
          return other.equals(raw) ? Seen.RUNNING : Seen.OTHER_BODY;
        }
        held = true;
      }
      synchronized (reached) {
        Digest other = reached.get(key);
        if (other != null && !other.equals(raw)) {
          return Seen.OTHER_BODY;
        }
      }
      return written.seen(id);
    }

    @Override
    public boolean executed(String id) {
      return written.executed(id);
    }

    /** Binds this id to this body from now on. */
    void reached() {
      synchronized (reached) {
        reached.put(key(request.requestId().orElseThrow()), raw);
      }
    }

    @Override
    public void close() {
      if (held) {
        synchronized (atWork) {
          atWork.remove(key(request.requestId().orElseThrow()));
        }
      }
    }
  }
}
