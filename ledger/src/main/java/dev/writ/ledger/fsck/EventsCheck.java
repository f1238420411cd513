package dev.writ.ledger.fsck;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.util.Arrays;
import java.util.Optional;

/** Walks every run in the order of its rows: form, seq, prev, body, position and head. */
final class EventsCheck {
  private static final byte[] ALL = {};

  private final Storage store;
  private final Blobs blobs;
  private final Examination found;
  private final LogCheck log;

  private byte[] runKey = ALL;
  private long seq;
  private Optional<Digest> prev = Optional.empty();
  private long count;
  private long runs;
  private long deleted;

  EventsCheck(Storage store, Blobs blobs, Examination found, LogCheck log) {
    this.store = store;
    this.blobs = blobs;
    this.found = found;
    this.log = log;
  }

  /** How many bodies are deleted, as a document states. */
  long deleted() {
    return deleted;
  }

  /** Walks every run in the order of its rows. */
  void examine() {
    found.scan(
        Family.EVENTS,
        (key, row) -> {
          event(key, row);
          found.done("events", count);
          return true;
        });
    end();
    if (count != log.logRows()) {
      found.problem("events", count + " events, but the log has " + log.logRows() + " rows");
    }
    long[] heads = {0};
    found.scan(
        Family.RUNS,
        (key, row) -> {
          heads[0]++;
          if (!store.has(Family.EVENTS, Keys.event(key, Keys.number(row)))) {
            found.problem(
                "run " + Keys.run(key), "its head, seq " + Keys.number(row) + ", is no event");
          }
          return true;
        });
    if (heads[0] != runs) {
      found.problem("runs", heads[0] + " heads, but events of " + runs + " runs");
    }
    found.verified(
        count + " events of " + runs + " runs: canonical form, seq, prev, body, position");
  }

  private void event(byte[] key, byte[] row) {
    count++;
    byte[] itsRun = Arrays.copyOf(key, Math.max(0, key.length - 8));
    if (!Arrays.equals(itsRun, runKey)) {
      end();
      runKey = itsRun;
      seq = 0;
      prev = Optional.empty();
      runs++;
    }
    byte[] bytes = StoredForm.eventBytes(key, row);
    String where = "event " + Keys.run(itsRun) + " " + seq;
    try {
      Event event = Event.parse(bytes);
      position(where, event, key, row);
      body(where, event);
    } catch (WritException e) {
      found.problem(where, e.getMessage());
    }
    found.secondOpinion(where, bytes);
    prev = Optional.of(Digest.sha256(bytes));
    seq++;
  }

  private void position(String where, Event event, byte[] key, byte[] row) {
    if (!Arrays.equals(key, Keys.event(Keys.run(event.runId()), event.seq()))) {
      found.problem(where, "its row is not that of " + event.runId() + " " + event.seq());
    }
    if (event.seq() != seq) {
      found.problem(where, "calculated seq " + seq + ", but the event has " + event.seq());
      seq = event.seq();
    }
    if (!event.prev().equals(prev)) {
      found.problem(
          where, "calculated prev " + text(prev) + ", but the event has " + text(event.prev()));
    }
    long index = Keys.number(row);
    Optional<byte[]> logRow = store.get(Family.LOG, Keys.number(index));
    if (logRow.isEmpty()
        || !Arrays.equals(LogRow.eventKey(index, log.oneNodeFrom(), logRow.get()), key)) {
      found.problem(where, "it says position " + index + ", where the log has not this event");
    }
  }

  private void body(String where, Event event) {
    byte[] body = event.body().bytes();
    if (store.has(Family.DOCUMENTS, body) || blobs.has(event.body())) {
      return;
    }
    if (isStatedAsDeleted(event.body())) {
      deleted++;
    } else {
      found.problem(where, "its body " + event.body() + " is neither a document nor a blob");
    }
  }

  private void end() {
    if (runKey.length == 0) {
      return;
    }
    Optional<Long> head = store.get(Family.RUNS, runKey).map(Keys::number);
    if (!head.equals(Optional.of(seq - 1))) {
      found.problem(
          "run " + Keys.run(runKey),
          "calculated head "
              + (seq - 1)
              + ", but "
              + head.map(String::valueOf).orElse("none")
              + " is stored");
    }
  }

  private static String text(Optional<Digest> digest) {
    return digest.map(Digest::toString).orElse("nothing");
  }

  /** Whether a row says that a signed document states the deletion of that content. */
  private boolean isStatedAsDeleted(Digest content) {
    byte[] prefix = Keys.table(Ledger.DELETED, content.hex() + Keys.SEPARATOR);
    return store
        .atLeast(Family.TABLES, prefix)
        .filter(row -> Storage.startsWith(row.key(), prefix))
        .map(Storage.Row::value)
        .filter(document -> store.has(Family.DOCUMENTS, document))
        .isPresent();
  }
}
