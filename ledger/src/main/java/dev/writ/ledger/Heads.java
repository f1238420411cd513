package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.LogTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The last event of each run that is being written to, enqueued ones included. Not thread safe: the
 * appender's lock guards it.
 */
final class Heads {
  /** Runs that are remembered; a run beyond that is read from the disk again. */
  private static final int RUNS_MAX = 16_384;

  /** A run's last event, and the number of the batch that it came with. */
  record Head(Event event, Digest id, long batch) {}

  private final LedgerView committed;
  private final LinkedHashMap<RunId, Head> recent = new LinkedHashMap<>(64, 0.75f, true);
  private LogTime time;

  /**
   * @param time of the log so far
   */
  Heads(LedgerView committed, LogTime time) {
    this.committed = committed;
    this.time = time;
  }

  Optional<Head> head(RunId run) {
    Head head = recent.get(run);
    if (head == null) {
      Optional<Event> stored = committed.head(run);
      if (stored.isEmpty()) {
        return Optional.empty();
      }
      head = new Head(stored.get(), stored.get().id(), 0);
      recent.put(run, head);
    }
    return Optional.of(head);
  }

  /**
   * Takes the events of a batch, all or none.
   *
   * @param number of the batch, from 1
   * @param durable number of the last batch that is durable: later heads are never dropped from
   *     memory
   * @throws WritException {@code LED-020} if an event does not continue its run, {@code LED-060}
   *     where its time lies too far back
   */
  void advance(Batch batch, long number, long durable) {
    Map<RunId, Head> changed = new LinkedHashMap<>();
    LogTime then = time.copy();
    if (batch.restartsTime()) {
      then.restart(batch.entries().getFirst().event().at());
    }
    for (Batch.Entry entry : batch.entries()) {
      then.take(entry.event().at());
      Optional<Head> head =
          changed.containsKey(entry.runId())
              ? Optional.of(changed.get(entry.runId()))
              : head(entry.runId());
      requireNext(entry.event(), head);
      changed.put(entry.runId(), new Head(entry.event(), entry.id(), number));
    }
    recent.putAll(changed);
    time = then;
    var eldest = recent.entrySet().iterator();
    while (recent.size() > RUNS_MAX && eldest.hasNext()) {
      if (eldest.next().getValue().batch() > durable) {
        break;
      }
      eldest.remove();
    }
  }

  private static void requireNext(Event event, Optional<Head> head) {
    long seq = head.map(h -> h.event().seq() + 1).orElse(0L);
    if (event.seq() != seq) {
      throw new WritException(
          LedgerError.CHAIN,
          event.runId() + " continues with seq " + seq + ", the event has " + event.seq());
    }
    Optional<Digest> prev = head.map(Head::id);
    if (!event.prev().equals(prev)) {
      throw new WritException(
          LedgerError.CHAIN,
          event.runId()
              + " at seq "
              + seq
              + " continues "
              + prev.map(Digest::toString).orElse("nothing")
              + ", the event "
              + event.prev().map(Digest::toString).orElse("nothing"));
    }
  }
}
