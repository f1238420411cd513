package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.MemoryJournal;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The journal of a replay: writes are compared with the recording and then dropped, except rows
 * that later steps read.
 */
final class RecordedJournal extends MemoryJournal {
  /** Tables whose rows a replay never reads. */
  private static final List<String> UNREAD =
      List.of(
          Tables.RECEIPTS,
          Tables.ACCOUNT,
          Tables.CLOSED,
          Tables.REFERENCE,
          Tables.HELD,
          Tables.WORKSPACE);

  /** Tables that have a row for every request, which a replay looks up one by one. */
  private static final List<String> UNSCANNED =
      List.of(Tables.REQUEST, Tables.SERVED, Tables.IDEMPOTENCY, Tables.EXECUTION);

  /** The run's first request, whose subject owns the run. */
  private static final long FIRST = 1;

  private final Comparison comparison;
  private final TreeSet<Digest> hidden = new TreeSet<>();
  private final TreeMap<Long, Event> dispatched = new TreeMap<>();
  private Optional<Event> first = Optional.empty();

  RecordedJournal(DocumentSource documents, Comparison comparison) {
    super(documents, new TreeSet<>(UNREAD), new TreeSet<>(UNSCANNED));
    this.comparison = comparison;
  }

  /** Hides documents that were not stored yet at this step. */
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

  /** Keeps the dispatch event of an effect that has no receipt yet. */
  void opened(Event event) {
    dispatched.put(event.seq(), event);
  }

  void ended(Event event) {
    dispatched.remove(event.seq());
  }

  /** What was served before is recognized here and not handed out, so no content is read. */
  @Override
  public byte[] blob(Digest digest, long bytesMax) {
    return new byte[0];
  }

  @Override
  public Optional<Event> event(RunId run, long seq) {
    return seq == FIRST ? first : Optional.ofNullable(dispatched.get(seq));
  }
}
