package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.RunAudit;
import dev.writ.verify.bundle.RecordedRun.Journal;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The contents of a bundle's run that its statements say are deleted, read before anything else, so
 * that a content that is missing is refused where it is named. Whether the statements are valid is
 * checked at their places in the log.
 */
final class StatedDeletions implements RunAudit.EventsBefore {
  private final TreeMap<String, Deletion> stated = new TreeMap<>();
  private final TreeSet<Long> named = new TreeSet<>();
  private final TreeMap<Long, Event> events = new TreeMap<>();
  private Optional<Event> closing = Optional.empty();

  static StatedDeletions of(Bundle bundle) {
    StatedDeletions deletions = new StatedDeletions();
    JournalLines lines = bundle.lines(Journal.CONSUMED);
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      Event event = JournalLines.event(line, lines.place());
      if (event.kind().equals(EventKind.CONTENT_DELETED)) {
        deletions.read(bundle, event);
      }
    }
    return deletions;
  }

  private void read(Bundle bundle, Event event) {
    Deletion deletion;
    try {
      deletion =
          bundle
              .document(event.body())
              .map(envelope -> Deletion.read(envelope.document()))
              .orElse(null);
    } catch (WritException e) {
      return; // refused at its place
    }
    if (deletion == null || !deletion.of().equals(bundle.manifest().run())) {
      return;
    }
    for (Deletion.Item item : deletion.contents()) {
      stated.put(key(item.content(), item.seq(), item.digest()), deletion);
      named.add(item.seq());
      named.add(item.seq() + 1); // the receipt of observations
    }
  }

  private static String key(ContentClass content, long seq, Digest digest) {
    return content.text() + " " + seq + " " + digest.hex();
  }

  /** The statement about a content of the run, as one of its events names it. */
  Optional<Deletion> of(References.Use use, Digest digest) {
    return Optional.ofNullable(stated.get(key(use.content(), use.seq(), digest)));
  }

  boolean isEmpty() {
    return stated.isEmpty();
  }

  /** Remembers an event that a statement mentions, and the closing. */
  void passed(Event event) {
    if (event.kind().equals(EventKind.RUN_CLOSED)) {
      closing = Optional.of(event);
    }
    if (named.contains(event.seq())) {
      events.put(event.seq(), event);
    }
  }

  /** An event of the bundle's run that was passed, if a statement mentions it. */
  @Override
  public Optional<Event> event(RunId run, long seq) {
    return Optional.ofNullable(events.get(seq)).filter(event -> event.runId().equals(run));
  }

  @Override
  public Optional<Event> closing(RunId run) {
    return closing.filter(event -> event.runId().equals(run));
  }
}
