package dev.writ.executor.retention;

import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The signed statements about the contents of one write, with their events and rows. */
final class DeletionStatements {
  private final DocumentSigner signer;
  private final Instant at;
  private final TreeMap<Subject, List<Deletion.Item>> items = new TreeMap<>();
  private Optional<Event> head;
  private long count;

  /**
   * @param signer the executor's
   * @param at the time of the events
   */
  DeletionStatements(Ledger ledger, DocumentSigner signer, Instant at) {
    this.signer = signer;
    this.at = at;
    this.head = ledger.head(Deletion.RUN);
  }

  /** What one statement is about. */
  private record Subject(RunId run, Deletion.Reason reason) implements Comparable<Subject> {
    @Override
    public int compareTo(Subject other) {
      return key().compareTo(other.key());
    }

    private String key() {
      return Tables.key(run.tenant(), run.run(), reason.name());
    }
  }

  void add(RunId run, Deletion.Reason reason, Deletion.Item item) {
    items.computeIfAbsent(new Subject(run, reason), _ -> new ArrayList<>()).add(item);
  }

  /** How many documents the batch has. */
  long count() {
    return count;
  }

  Batch batch() {
    Batch batch = new Batch();
    items.forEach((subject, all) -> {
      List<Deletion.Item> sorted = all.stream().sorted().toList();
      for (int from = 0; from < sorted.size(); from += Deletion.CONTENTS_MAX) {
        int to = Math.min(sorted.size(), from + Deletion.CONTENTS_MAX);
        state(batch, new Deletion(subject.run(), subject.reason(), sorted.subList(from, to), at));
      }
    });
    return batch;
  }

  private void state(Batch batch, Deletion deletion) {
    Envelope signed = signer.sign(Deletion.TYPE, deletion.toJson());
    Event event =
        head.map(
                before -> before.next(EventKind.CONTENT_DELETED, signed.id(), at, Optional.empty()))
            .orElseGet(() ->
                Event.first(
                    Deletion.RUN.tenant(),
                    Deletion.RUN.run(),
                    EventKind.CONTENT_DELETED,
                    signed.id(),
                    at,
                    Optional.empty()));
    head = Optional.of(event);
    count++;
    batch.event(event).document(signed);
    deletion
        .contents()
        .forEach(item ->
            batch.put(Tables.DELETED, Deletions.key(deletion.of(), item), signed.id().bytes()));
    if (deletion.reason() instanceof Deletion.Archived archived) {
      batch.put(Tables.ARCHIVED, ArchivedRuns.key(deletion.of()), archived.bundle().bytes());
    }
  }
}
