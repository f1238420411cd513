package dev.writ.sinks.feed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.error.SinkError;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Records that a sink gave up on, so that later ones do not wait for them, and records that an
 * operator wants sent again: rows beside the log, which no document depends on.
 */
public final class DeadLetters {
  private final LedgerView ledger;
  private final String sink;
  private final Store store;
  private final Duration after;
  private final int rejectedMax;
  private final InstantSource clock;
  private final ConcurrentSkipListSet<RecordId> due = new ConcurrentSkipListSet<>();
  private final AtomicLong dead = new AtomicLong();
  private Optional<RecordId> rejected = Optional.empty();
  private int rejections;

  /** Writes rows durably. */
  @FunctionalInterface
  public interface Store {
    /**
     * @param row absent to remove it
     */
    void save(String key, Optional<byte[]> row);
  }

  /**
   * One of them.
   *
   * @param code of the last refusal; absent if it was delivered before
   * @param at when it was given up, or asked for again
   * @param due whether it is to be sent again
   */
  public record Letter(RecordId id, Optional<String> code, Instant at, boolean due) {
    static Letter parse(byte[] row) {
      Fields fields = Fields.of("letter", Jcs.parse(row));
      Letter letter =
          new Letter(
              RecordId.parse(fields.string("id")),
              fields.optional("code", fields::name),
              fields.time("at"),
              fields.bool("due"));
      fields.end();
      return letter;
    }

    byte[] toBytes() {
      return Jcs.write(
          JsonValue.object()
              .put("id", id.toString())
              .putIfPresent("code", code, JsonValue::of)
              .put("at", at)
              .put("due", due)
              .build());
    }
  }

  /**
   * @param after a record older than this is given up where attempts have failed for so long, too
   * @param rejectedMax a record that the target itself rejects so often is given up
   */
  public DeadLetters(
      LedgerView ledger,
      String sink,
      Store store,
      Duration after,
      int rejectedMax,
      InstantSource clock) {
    this.ledger = ledger;
    this.sink = sink;
    this.store = store;
    this.after = after;
    this.rejectedMax = rejectedMax;
    this.clock = clock;
    for (Letter letter : of(ledger, sink)) {
      if (letter.due()) {
        due.add(letter.id());
      } else {
        dead.incrementAndGet();
      }
    }
  }

  /** All of a sink, by their ids. */
  public static List<Letter> of(LedgerView ledger, String sink) {
    List<Letter> letters = new ArrayList<>();
    ledger.scan(
        Tables.DEAD_LETTER,
        Tables.prefix(sink),
        (_, row) -> {
          letters.add(Letter.parse(row));
          return true;
        });
    return letters;
  }

  private static String key(String sink, RecordId id) {
    return Tables.key(sink, Tables.number(id.incarnation()), Tables.number(id.index()));
  }

  /** Marks a record to be sent again; it need not have been given up. */
  public static void again(LedgerView ledger, String sink, Store store, RecordId id, Instant now) {
    Optional<String> code =
        ledger.get(Tables.DEAD_LETTER, key(sink, id)).map(Letter::parse).flatMap(Letter::code);
    store.save(key(sink, id), Optional.of(new Letter(id, code, now, true).toBytes()));
  }

  void again(RecordId id) {
    boolean wasDead = isDead(id);
    again(ledger, sink, store, id, clock.instant());
    due.add(id);
    if (wasDead) {
      dead.decrementAndGet();
    }
  }

  private boolean isDead(RecordId id) {
    return ledger
        .get(Tables.DEAD_LETTER, key(sink, id))
        .filter(row -> !Letter.parse(row).due())
        .isPresent();
  }

  /** How many were given up. */
  long count() {
    return dead.get();
  }

  /** The first that is to be sent again. */
  Optional<RecordId> due() {
    return due.isEmpty() ? Optional.empty() : Optional.of(due.first());
  }

  void sent(RecordId id) {
    store.save(key(sink, id), Optional.empty());
    due.remove(id);
  }

  /**
   * After a failed attempt: gives the record up, or says that it is to be tried again.
   *
   * @param since when attempts began to fail
   */
  boolean takes(SinkRecord record, WritException why, Instant since) {
    boolean rejects = why.code() == SinkError.REJECTED;
    rejections = rejects && rejected.filter(record.id()::equals).isPresent() ? rejections + 1 : 1;
    rejected = rejects ? Optional.of(record.id()) : Optional.empty();
    Instant tooOld = clock.instant().minus(after);
    boolean given =
        rejects && rejections >= rejectedMax
            || record.at().isBefore(tooOld) && since.isBefore(tooOld);
    if (given) {
      giveUp(record.id(), why);
    }
    return given;
  }

  void giveUp(RecordId id, WritException why) {
    boolean wasDead = isDead(id);
    Letter letter = new Letter(id, Optional.of(why.code().code()), clock.instant(), false);
    store.save(key(sink, id), Optional.of(letter.toBytes()));
    due.remove(id);
    if (!wasDead) {
      dead.incrementAndGet();
    }
  }
}
