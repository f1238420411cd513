package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.Event;
import dev.writ.ledger.MemoryJournal;
import dev.writ.ledger.RunId;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where a replay writes: what is written is held against the recording and then forgotten, but for
 * the rows that later steps ask for.
 */
final class RecordedJournal extends MemoryJournal {
  /** Tables of which nothing here reads a row. */
  private static final List<String> UNREAD =
      List.of(
          Tables.RECEIPTS,
          Tables.ACCOUNT,
          Tables.CLOSED,
          Tables.REFERENCE,
          Tables.HELD,
          Tables.WORKSPACE);

  /** The run's first request, which says for whom it was opened. */
  private static final long FIRST = 1;

  private final Comparison comparison;
  private final TreeSet<Digest> hidden = new TreeSet<>();
  private final TreeMap<Long, Event> dispatched = new TreeMap<>();
  private Optional<Event> first = Optional.empty();

  RecordedJournal(DocumentSource documents, Comparison comparison) {
    super(documents, new TreeSet<>(UNREAD));
    this.comparison = comparison;
  }

  /** Documents that were not stored yet at this step. */
  void hide(List<Digest> documents) {
    hidden.clear();
    hidden.addAll(documents);
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return hidden.contains(id) ? Optional.empty() : super.document(id);
  }

  @Override
  public Event place(Event next) {
    Event placed = comparison.place(next);
    if (placed.seq() == FIRST) {
      first = Optional.of(placed);
    }
    return placed;
  }

  @Override
  public Commit append(Batch batch) {
    Commit commit = super.append(batch);
    comparison.appended();
    return commit;
  }

  /** Keeps the event of an effect that has no receipt yet. */
  void opened(Event event) {
    dispatched.put(event.seq(), event);
  }

  void ended(Event event) {
    dispatched.remove(event.seq());
  }

  @Override
  public Optional<Event> event(RunId run, long seq) {
    return seq == FIRST ? first : Optional.ofNullable(dispatched.get(seq));
  }
}
