package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopesAhead;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.Event;
import dev.writ.verify.bundle.Recording.Journal;
import dev.writ.verify.work.Ahead;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A bundle's events in the order of the log, with their documents, read and verified ahead in
 * chunks. As a source of documents it holds those of the current chunk and of the one before;
 * others are read on demand.
 */
final class EventsAhead implements DocumentSource, AutoCloseable {
  private static final int CHUNK_EVENTS = 384;

  /** Bytes of documents that a chunk reads ahead; further ones are read on demand. */
  private static final long CHUNK_BYTES = 4 << 20;

  private final Bundle bundle;
  private final Trust keys;
  private final boolean references;
  private final LogOrder log;
  private final Ahead<List<Line>, Chunk> chunks;
  private TreeMap<Digest, Envelope> documents = new TreeMap<>();
  private TreeMap<Digest, Envelope> before = new TreeMap<>();

  /** A line of a journal. */
  private record Line(Journal journal, long index, String place, byte[] bytes) {}

  private record Chunk(
      List<Line> lines,
      List<Event> events,
      List<Referred> referred,
      TreeMap<Digest, Envelope> documents) {}

  /** Gets an event with its position in the log and its references. */
  interface Visitor {
    void event(Journal journal, long index, Event event, Referred referred);
  }

  /**
   * @param keys the keys for verifying signatures ahead; whether they may sign is not checked here
   */
  EventsAhead(Bundle bundle, Trust keys) {
    this(bundle, keys, true);
  }

  /** For who does not ask what the events refer to. */
  static EventsAhead withoutReferences(Bundle bundle, Trust keys) {
    return new EventsAhead(bundle, keys, false);
  }

  private EventsAhead(Bundle bundle, Trust keys, boolean references) {
    this.references = references;
    this.bundle = bundle;
    this.keys = keys;
    this.log = new LogOrder(bundle);
    this.chunks = new Ahead<>(this::lines, this::chunk);
  }

  private Optional<List<Line>> lines() {
    List<Line> lines = new ArrayList<>();
    while (lines.size() < CHUNK_EVENTS && log.index() != LogOrder.END) {
      Journal journal = log.journal();
      long index = log.index();
      String place = log.place();
      lines.add(new Line(journal, index, place, log.take()));
    }
    return lines.isEmpty() ? Optional.empty() : Optional.of(lines);
  }

  private Chunk chunk(List<Line> lines) {
    List<Event> events = new ArrayList<>(lines.size());
    TreeMap<Digest, Envelope> read = new TreeMap<>();
    long bytes = 0;
    for (Line line : lines) {
      Event event = Lines.event(line.bytes(), line.place());
      events.add(event);
      if (bytes < CHUNK_BYTES && isDocument(event) && !read.containsKey(event.body())) {
        bytes += read(event.body(), read);
      }
    }
    EnvelopesAhead.prepare(List.copyOf(read.values()), this::key);
    List<Referred> referred = new ArrayList<>(lines.size());
    for (int i = 0; i < events.size(); i++) {
      referred.add(
          !references || lines.get(i).journal() == Journal.CONSUMED
              ? Referred.NOTHING
              : Referred.by(events.get(i), id -> either(read.get(id), id), bundle));
    }
    return new Chunk(lines, events, referred, read);
  }

  private static boolean isDocument(Event event) {
    return !event.kind().equals(EventKind.RUN_OPENED)
        && !event.kind().equals(EventKind.EFFECT_FINISHED);
  }

  private long read(Digest id, TreeMap<Digest, Envelope> read) {
    try {
      Optional<Bundle.Sized> document = bundle.read(id);
      document.ifPresent(d -> read.put(id, d.envelope()));
      return document.map(Bundle.Sized::bytes).orElse(0);
    } catch (WritException e) {
      return 0; // refused at its place
    }
  }

  private Optional<VerifyingKey> key(String kid) {
    return keys.key(kid).map(TrustedKey::key);
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
    Envelope here = documents.get(id);
    here = here == null ? before.get(id) : here;
    return either(here, id);
  }

  private Optional<Envelope> either(Envelope here, Digest id) {
    return here == null ? bundle.document(id) : Optional.of(here);
  }

  @Override
  public void close() {
    chunks.close();
  }
}
