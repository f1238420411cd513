package dev.writ.sinks.feed;

import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads the journal as records, a bounded batch at a time. */
public final class RecordSource {
  private static final int EVENTS_MAX = 1_000;

  /** Who takes one record at a time would read the others' events again for each. */
  private static final int EVENTS_PER_RECORD_MAX = 50;

  static final int RECORDS_MAX = 200;
  private static final long BYTES_MAX = 4L << 20;

  private final LedgerView ledger;
  private final RecordReader reader;
  private final Optional<String> tenant;
  private TreeMap<Long, Long> incarnations = new TreeMap<>();
  private long incarnationsOf = -1;

  /**
   * @param tenant only records of this tenant; absent for all
   */
  public RecordSource(LedgerView ledger, RecordReader reader, Optional<String> tenant) {
    this.ledger = ledger;
    this.reader = reader;
    this.tenant = tenant;
  }

  /**
   * What was read.
   *
   * @param next the position behind it
   */
  record Batch(List<SinkRecord> records, long next) {}

  private record Placed(long index, Event event) {}

  /**
   * Reads on from a position; at the log's end the batch is empty and {@code next} that position.
   *
   * @param recordsMax at most {@link #RECORDS_MAX}
   */
  Batch read(long from, int recordsMax) {
    long size = ledger.treeSize();
    List<Placed> events = new ArrayList<>();
    ledger.eventsByIndex(
        Math.min(from, size),
        Math.min(size, from + Math.min(EVENTS_MAX, (long) EVENTS_PER_RECORD_MAX * recordsMax)),
        (index, event) -> events.add(new Placed(index, event)));
    List<SinkRecord> records = new ArrayList<>();
    long next = from;
    long bytes = 0;
    for (Placed placed : events) {
      if (records.size() == recordsMax || bytes >= BYTES_MAX) {
        break;
      }
      Optional<SinkRecord> record = record(placed);
      if (record.isPresent()) {
        records.add(record.get());
        bytes += record.get().bytes();
      }
      next = placed.index + 1;
    }
    return new Batch(records, next);
  }

  private Optional<SinkRecord> record(Placed placed) {
    if (tenant.isPresent() && !tenant.get().equals(placed.event.tenant())) {
      return Optional.empty();
    }
    return reader
        .read(placed.event)
        .map(entry ->
            new SinkRecord(
                new RecordId(incarnation(placed.index), placed.index),
                ledger.origin(),
                entry.scope(),
                placed.event.body(),
                placed.event.at(),
                entry.fields()));
  }

  /** The record at a position of the log; absent where there is none. */
  public Optional<SinkRecord> record(long position) {
    return at(position).flatMap(event -> record(new Placed(position, event)));
  }

  /** The position behind a record that the log has, or had before it was put back from a backup. */
  long behind(RecordId id) {
    Long after =
        incarnations().entrySet().stream()
            .filter(begin -> begin.getValue() > id.incarnation())
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse(ledger.treeSize());
    return Math.min(id.index() + 1, after);
  }

  private long incarnation(long index) {
    var begin = incarnations().floorEntry(index);
    return begin == null ? 1 : begin.getValue();
  }

  /** Position of the first event of each incarnation but the first. */
  private TreeMap<Long, Long> incarnations() {
    if (incarnationsOf != ledger.incarnation()) {
      TreeMap<Long, Long> found = new TreeMap<>();
      ledger.events(
          SystemState.RUN,
          0,
          event -> {
            if (event.kind().equals(EventKind.LEDGER_INCARNATED)
                || event.kind().equals(EventKind.CLOCK_CORRECTED)) {
              SystemChange change =
                  SystemChange.read(ledger.document(event.body()).orElseThrow().document());
              long at = ledger.indexOf(SystemState.RUN, event.seq()).orElseThrow();
              change.incarnation().ifPresent(number -> found.put(at, number));
            }
          });
      incarnationsOf = ledger.incarnation();
      incarnations = found;
    }
    return incarnations;
  }

  /** The id that the next event of the log would have. */
  RecordId end() {
    return new RecordId(ledger.incarnation(), ledger.treeSize());
  }

  /** When the event at that position was written; absent at the log's end. */
  Optional<Event> at(long position) {
    List<Event> found = new ArrayList<>();
    if (position < ledger.treeSize()) {
      ledger.eventsByIndex(position, position + 1, (_, event) -> found.add(event));
    }
    return found.stream().findFirst();
  }

  long size() {
    return ledger.treeSize();
  }
}
