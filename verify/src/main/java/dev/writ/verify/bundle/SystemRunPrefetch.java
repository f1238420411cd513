package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopesAhead;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.verify.error.BundleError;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * The events of the system run, a part of the run at a time, with their documents, whose signatures
 * are verified together ahead of the walk.
 */
final class SystemRunPrefetch implements DocumentSource {
  private static final int EVENTS_MAX = 512;

  /** Of documents that are read ahead; further ones are read on demand. */
  private static final long BYTES_MAX = 4 << 20;

  private final Bundle bundle;
  private final JournalLines lines;
  private LinkedHashMap<Digest, Envelope> ahead = new LinkedHashMap<>();

  SystemRunPrefetch(Bundle bundle) {
    this.bundle = bundle;
    this.lines = bundle.lines(RecordedRun.Journal.SYSTEM);
  }

  /** The next events, whose documents are read and verified then; empty behind the last. */
  List<Event> next() {
    List<Event> events = new ArrayList<>();
    ahead = new LinkedHashMap<>();
    long bytes = 0;
    while (events.size() < EVENTS_MAX && bytes < BYTES_MAX) {
      byte[] line = lines.next();
      if (line == null) {
        break;
      }
      Event event = JournalLines.event(line, lines.place());
      events.add(event);
      bytes += read(event);
    }
    EnvelopesAhead.prepare(List.copyOf(ahead.values()), bundle::stated);
    return events;
  }

  private long read(Event event) {
    if (event.kind().equals(EventKind.RUN_OPENED)) {
      return 0;
    }
    try {
      Optional<Bundle.Sized> document = bundle.read(event.body());
      document.ifPresent(found -> ahead.put(event.body(), found.envelope()));
      return document.map(Bundle.Sized::bytes).orElse(0);
    } catch (WritException e) {
      return 0; // refused at its place
    }
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    Optional<Envelope> document = Optional.ofNullable(ahead.get(id)).or(() -> bundle.document(id));
    if (document.isEmpty()) {
      throw new WritException(BundleError.ENTRY_MISSING, BundleEntryNames.document(id));
    }
    return document;
  }
}
