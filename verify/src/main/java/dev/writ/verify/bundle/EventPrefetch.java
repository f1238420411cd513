package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopesAhead;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.work.Ahead;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A bundle's events in the order of the log, with their documents, read and verified ahead in
 * chunks. As a source of documents it holds those of the current chunk and of the one before;
 * others are read on demand.
 */
final class EventPrefetch implements DocumentSource, AutoCloseable {
  private static final int CHUNK_EVENTS = 768;

  /** Bytes of documents that a chunk reads ahead; further ones are read on demand. */
  private static final long CHUNK_BYTES = 4 << 20;

  private final Bundle bundle;
  private final boolean references;
  private final JournalMerge log;
  private final Ahead<List<Line>, Chunk> chunks;
  private LinkedHashMap<Digest, Bundle.Sized> documents = new LinkedHashMap<>();
  private LinkedHashMap<Digest, Bundle.Sized> before = new LinkedHashMap<>();

  /** A line of a journal. */
  private record Line(Journal journal, long index, JournalLines.Place place, byte[] bytes) {}

  private record Chunk(
      List<Line> lines,
      List<Event> events,
      List<EventReferences> referred,
      LinkedHashMap<Digest, Bundle.Sized> documents) {}

  /** Gets an event with its position in the log and its references. */
  interface Visitor {
    void event(Journal journal, long index, Event event, EventReferences referred);
  }

  EventPrefetch(Bundle bundle) {
    this(bundle, true);
  }

  /** For who does not ask what the events refer to. */
  static EventPrefetch withoutReferences(Bundle bundle) {
    return new EventPrefetch(bundle, false);
  }

  private EventPrefetch(Bundle bundle, boolean references) {
    this.references = references;
    this.bundle = bundle;
    this.log = new JournalMerge(bundle);
    this.chunks = new Ahead<>(this::lines, this::chunk);
  }

  private Optional<List<Line>> lines() {
    List<Line> lines = new ArrayList<>();
    while (lines.size() < CHUNK_EVENTS && log.index() != JournalMerge.END) {
      Journal journal = log.journal();
      long index = log.index();
      JournalLines.Place place = log.place();
      lines.add(new Line(journal, index, place, log.take()));
    }
    return lines.isEmpty() ? Optional.empty() : Optional.of(lines);
  }

  private Chunk chunk(List<Line> lines) {
    List<Event> events = new ArrayList<>(lines.size());
    LinkedHashMap<Digest, Bundle.Sized> read = new LinkedHashMap<>();
    long bytes = 0;
    for (Line line : lines) {
      Event event = JournalLines.event(line.bytes(), line.place());
      events.add(event);
      if (bytes < CHUNK_BYTES && isDocument(event) && !read.containsKey(event.body())) {
        bytes += read(event.body(), read);
      }
    }
    EnvelopesAhead.prepare(
        read.values().stream().map(Bundle.Sized::envelope).toList(), bundle::stated);
    List<EventReferences> referred = new ArrayList<>(lines.size());
    for (int i = 0; i < events.size(); i++) {
      referred.add(
          !references || lines.get(i).journal() == Journal.CONSUMED
              ? EventReferences.NOTHING
              : EventReferences.by(
                  events.get(i),
                  id -> either(read.get(id), id),
                  id -> entry(read.get(id)),
                  bundle));
    }
    return new Chunk(lines, events, referred, read);
  }

  /**
   * Reads what a document says, which it keeps: right behind its parsing, since so many documents
   * lie in no processor's cache any more when their signatures have been verified.
   */
  private static void readAhead(Envelope envelope) {
    try {
      JsonValue document = envelope.document();
      String type = envelope.payloadType();
      if (type.equals(Request.TYPE)) {
        Request.read(document);
      } else if (type.equals(Decision.TYPE)) {
        JudgeInputs.read(Decision.read(document).inputs());
      } else if (type.equals(Intent.TYPE)) {
        Intent.read(document);
      } else if (type.equals(Receipt.TYPE)) {
        Receipt.read(document);
      }
    } catch (WritException e) {
      // refused at its place
    }
  }

  private static boolean isDocument(Event event) {
    return !event.kind().equals(EventKind.RUN_OPENED)
        && !event.kind().equals(EventKind.EFFECT_FINISHED);
  }

  private static OptionalInt entry(Bundle.Sized here) {
    return here == null ? OptionalInt.empty() : OptionalInt.of(here.entry());
  }

  private long read(Digest id, LinkedHashMap<Digest, Bundle.Sized> read) {
    try {
      Optional<Bundle.Sized> document = bundle.read(id);
      document.ifPresent(d -> {
        readAhead(d.envelope());
        read.put(id, d);
      });
      return document.map(Bundle.Sized::bytes).orElse(0);
    } catch (WritException e) {
      return 0; // refused at its place
    }
  }

  /** Begins to read and verify in other threads, before the first event is asked for. */
  void begin() {
    chunks.begin();
  }

  /** Hands on every event. */
  void forEach(Visitor visitor) {
    for (Optional<Chunk> next = chunks.next(); next.isPresent(); next = chunks.next()) {
      Chunk chunk = next.get();
      before = documents;
      documents = chunk.documents();
      for (int i = 0; i < chunk.events().size(); i++) {
        Line line = chunk.lines().get(i);
        visitor.event(line.journal(), line.index(), chunk.events().get(i), chunk.referred().get(i));
      }
    }
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return either(here(id), id);
  }

  /** The entry of a document of the current chunk or the one before; empty for any other. */
  OptionalInt entry(Digest id) {
    return entry(here(id));
  }

  private Bundle.Sized here(Digest id) {
    Bundle.Sized here = documents.get(id);
    return here == null ? before.get(id) : here;
  }

  private Optional<Envelope> either(Bundle.Sized here, Digest id) {
    return here == null ? bundle.document(id) : Optional.of(here.envelope());
  }

  @Override
  public void close() {
    chunks.close();
  }
}
