package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopesAhead;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.work.Ahead;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The events of a whole ledger with their documents, read, parsed and verified ahead in chunks on
 * all cores. As a source of documents it holds those of the current chunk and of the one before;
 * others are read on demand. No verdict changes: what cannot be read or is not accepted ahead is
 * read and judged again at its place.
 */
final class EventsOfLedger implements DocumentSource {
  private static final int CHUNK_EVENTS = 384;

  private final LedgerView ledger;
  private final Optional<Executor> by;
  private Map<Digest, Envelope> documents = new LinkedHashMap<>();
  private Map<Digest, Envelope> before = new LinkedHashMap<>();
  private long begun;

  private record Chunk(List<Event> events, Map<Digest, Envelope> documents) {}

  /** What is to be read, and the keys that are enrolled when it is begun. */
  private record Range(long from, long to, Trust trust) {}

  /**
   * @param by reads ahead, instead of threads of its own
   */
  EventsOfLedger(LedgerView ledger, Optional<Executor> by) {
    this.ledger = ledger;
    this.by = by;
  }

  /**
   * Hands on every event of the log up to a size.
   *
   * @param trust the keys for verifying ahead, asked for at each chunk; a key that is enrolled
   *     later only verifies less ahead
   */
  void forEach(long size, Supplier<Trust> trust, LedgerView.EventVisitor visitor) {
    try (Ahead<Range, Chunk> chunks =
        new Ahead<>(() -> range(size, trust.get()), this::chunk, by)) {
      long index = 0;
      for (Optional<Chunk> next = chunks.next(); next.isPresent(); next = chunks.next()) {
        before = documents;
        documents = next.get().documents();
        for (Event event : next.get().events()) {
          visitor.event(index++, event);
        }
      }
    }
  }

  private Optional<Range> range(long size, Trust trust) {
    long from = begun;
    begun = Math.min(size, from + CHUNK_EVENTS);
    return from == begun ? Optional.empty() : Optional.of(new Range(from, begun, trust));
  }

  private Chunk chunk(Range range) {
    List<Event> events = new ArrayList<>(CHUNK_EVENTS);
    ledger.eventsByIndex(range.from(), range.to(), (_, event) -> events.add(event));
    Map<Digest, Envelope> read = new LinkedHashMap<>();
    for (Event event : events) {
      if (isDocument(event) && !read.containsKey(event.body())) {
        read(event.body()).ifPresent(envelope -> read.put(event.body(), envelope));
      }
    }
    EnvelopesAhead.prepare(
        List.copyOf(read.values()), kid -> range.trust().key(kid).map(TrustedKey::key));
    return new Chunk(events, read);
  }

  private static boolean isDocument(Event event) {
    return !event.kind().equals(EventKind.RUN_OPENED)
        && !event.kind().equals(EventKind.EFFECT_FINISHED);
  }

  private Optional<Envelope> read(Digest id) {
    try {
      return ledger.document(id);
    } catch (WritException e) {
      return Optional.empty(); // refused at its place
    }
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    Envelope here = documents.get(id);
    here = here == null ? before.get(id) : here;
    return here == null ? ledger.document(id) : Optional.of(here);
  }
}
