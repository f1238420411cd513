package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.Caller;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which request of the kernel a client's requestId stands for, and which executions are at work
 * here. What was dispatched is found by its idempotency key; of what was not, the latest are
 * remembered, after a restart those in the latest events of the log.
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

    /** As the kernel has it: no other surface's keys are such. */
    String idempotency() {
      return PREFIX + requestId;
    }

    private String text() {
      return Tables.key(tenant, subject, requestId);
    }
  }

  /**
   * A request of the kernel, and what no document says of it.
   *
   * @param waitedMs in the lane, of the last time that it went through here
   * @param undispatched how it ended where nothing was dispatched
   * @param overBudget whether it was cancelled because its time was over
   */
  record Known(
      Digest request, Optional<Long> waitedMs, Optional<Ending> undispatched, boolean overBudget) {
    Known(Digest request) {
      this(request, Optional.empty(), Optional.empty(), false);
    }
  }

  /** A call's place among the executions: its own, or one that the same body has already. */
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

  /** What is known of it, from now on for others too. */
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

  /** Once after a start: what was asked before it and not dispatched is in the log alone. */
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

  /** An agent may sign a request with a key of any form: that is none of this surface's. */
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
