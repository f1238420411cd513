package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Maps a client's requestId to the kernel's request, and knows the executions at work. Dispatched
 * requests are found by their idempotency key. Of others the latest are kept in memory; after a
 * restart, those among the latest events of the log.
 */
final class EngineExecutions {
  private static final String PREFIX = EngineSurface.NAME + "/";
  private static final int REMEMBERED_MAX = 20_000;
  private static final long EVENTS_READ_MAX = 50_000;

  private final LedgerView ledger;
  private final TreeMap<String, EngineExecution> atWork = new TreeMap<>();
  private boolean read;
  private final Map<String, Known> remembered =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
          return size() > REMEMBERED_MAX;
        }
      };

  EngineExecutions(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** Whose requestId. */
  record Key(String tenant, String subject, String requestId) {
    static Key of(Caller caller, String requestId) {
      return new Key(caller.tenant(), caller.subject(), requestId);
    }

    /** The idempotency key for the kernel; other surfaces use other prefixes. */
    String idempotency() {
      return PREFIX + requestId;
    }

    private String text() {
      return Tables.key(tenant, subject, requestId);
    }
  }

  /**
   * A request of the kernel, with data that is in no document.
   *
   * @param waitedMs its last wait in the lane, in milliseconds
   * @param undispatched how it ended, if nothing was dispatched
   * @param overBudget whether it was cancelled because its time budget was over
   */
  record Known(
      Digest request, Optional<Long> waitedMs, Optional<Ending> undispatched, boolean overBudget) {
    Known(Digest request) {
      this(request, Optional.empty(), Optional.empty(), false);
    }
  }

  /** The execution of a call: a new one, or one with the same body that is at work. */
  record Turn(EngineExecution execution, boolean isFirst) {}

  /**
   * @param raw digest of the body
   * @throws WritException {@code GWY-205} where another body has this requestId
   */
  Turn turn(Key key, Digest raw) {
    synchronized (atWork) {
      EngineExecution other = atWork.get(key.text());
      if (other != null) {
        requireSame(other.raw(), raw);
        return new Turn(other, false);
      }
      EngineExecution execution = new EngineExecution(raw);
      atWork.put(key.text(), execution);
      return new Turn(execution, true);
    }
  }

  /** Keeps the state of a request for later calls. */
  void remember(Key key, Known known) {
    synchronized (remembered) {
      remembered.remove(key.text());
      remembered.put(key.text(), known);
    }
  }

  /** It is at work no more. */
  void end(Key key, EngineExecution execution) {
    synchronized (atWork) {
      atWork.remove(key.text(), execution);
    }
    execution.end();
  }

  Optional<EngineExecution> atWork(Key key) {
    synchronized (atWork) {
      return Optional.ofNullable(atWork.get(key.text()));
    }
  }

  /**
   * The same, only where the body is the same.
   *
   * @throws WritException {@code GWY-205}
   */
  Optional<Known> find(Key key, Digest raw) {
    Optional<Known> known = find(key);
    known.ifPresent(k -> {
      Request request = Request.read(ledger.document(k.request()).orElseThrow().document());
      requireSame(request.origin().map(Origin::raw).orElse(k.request()), raw);
    });
    return known;
  }

  Optional<Known> find(Key key) {
    synchronized (remembered) {
      Known known = remembered.get(key.text());
      if (known != null) {
        return Optional.of(known);
      }
    }
    Optional<Known> dispatched =
        ledger
            .get(Tables.IDEMPOTENCY, Tables.key(key.tenant(), key.subject(), key.idempotency()))
            .map(Digest::ofBytes)
            .filter(id -> isOurs(Request.read(ledger.document(id).orElseThrow().document())))
            .map(Known::new);
    return dispatched.isPresent() ? dispatched : ofTheLog(key);
  }

  /** Reads the log once after a start, for requests from before that were not dispatched. */
  private Optional<Known> ofTheLog(Key key) {
    synchronized (remembered) {
      if (!read) {
        read = true;
        long size = ledger.treeSize();
        ledger.eventsByIndex(
            Math.max(0, size - EVENTS_READ_MAX),
            size,
            (_, event) -> {
              if (event.kind().equals(EventKind.REQUEST_RECEIVED)) {
                ledger
                    .document(event.body())
                    .ifPresent(e -> note(e.id(), Request.read(e.document())));
              }
            });
      }
      return Optional.ofNullable(remembered.get(key.text()));
    }
  }

  private void note(Digest id, Request request) {
    if (isOurs(request)) {
      Key key =
          new Key(
              request.scope().tenant(),
              request.scope().subject(),
              request.idempotencyKey().orElseThrow().substring(PREFIX.length()));
      remembered.putIfAbsent(key.text(), new Known(id));
    }
  }

  /**
   * Whether this surface vouched for a request. Agents may sign requests with keys of the same
   * form; those are not ours.
   */
  private static boolean isOurs(Request request) {
    return request.origin().filter(o -> o.surface().equals(EngineSurface.NAME)).isPresent()
        && request.idempotencyKey().filter(k -> k.startsWith(PREFIX)).isPresent();
  }

  private static void requireSame(Digest before, Digest raw) {
    if (!before.equals(raw)) {
      throw new WritException(EngineError.REQUEST_REUSED, "then " + before + ", now " + raw);
    }
  }
}
