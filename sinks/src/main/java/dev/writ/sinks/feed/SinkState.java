package dev.writ.sinks.feed;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.Optional;

/**
 * What the ledger remembers of a sink: a row beside the log, which no document depends on.
 *
 * @param position the next event to read
 * @param last the last record that was delivered, before that position
 * @param delivered how many records the target has confirmed, repeated ones counted again
 * @param trouble why nothing is delivered now
 */
public record SinkState(
    long position,
    Optional<RecordId> last,
    long delivered,
    boolean paused,
    Optional<Trouble> trouble) {
  /** Of a sink that has delivered nothing. */
  public static final SinkState NEW =
      new SinkState(0, Optional.empty(), 0, false, Optional.empty());

  /**
   * A failure that lasts.
   *
   * @param code of the refusal
   * @param since when it began
   */
  public record Trouble(String code, Instant since) {}

  /** Reads a sink's row; {@link #NEW} if there is none. */
  public static SinkState of(LedgerView ledger, String sink) {
    return ledger.get(Tables.SINK, sink).map(SinkState::parse).orElse(NEW);
  }

  static SinkState parse(byte[] row) {
    Fields fields = Fields.of("sink", Jcs.parse(row));
    SinkState state =
        new SinkState(
            fields.count("position"),
            fields.optional("last", key -> RecordId.parse(fields.string(key))),
            fields.count("delivered"),
            fields.bool("paused"),
            fields.optional("trouble", key -> trouble(fields.obj(key))));
    fields.end();
    return state;
  }

  private static Trouble trouble(JsonValue.Obj json) {
    Fields fields = Fields.of("trouble", json);
    Trouble trouble = new Trouble(fields.name("code"), fields.time("since"));
    fields.end();
    return trouble;
  }

  /** The row. */
  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("position", position)
            .putIfPresent("last", last, id -> JsonValue.of(id.toString()))
            .put("delivered", delivered)
            .put("paused", paused)
            .putIfPresent(
                "trouble",
                trouble,
                t -> JsonValue.object().put("code", t.code()).put("since", t.since()).build())
            .build());
  }

  /** Of a sink that begins at a position of the log. */
  public static SinkState from(long position) {
    return new SinkState(position, Optional.empty(), 0, false, Optional.empty());
  }

  SinkState at(long next, Optional<RecordId> behind) {
    return new SinkState(next, behind, delivered, paused, trouble);
  }

  SinkState read(long next, long records, Optional<RecordId> lastOfThem) {
    return new SinkState(next, lastOfThem.or(() -> last), delivered + records, paused, trouble);
  }

  SinkState with(Optional<Trouble> other) {
    return new SinkState(position, last, delivered, paused, other);
  }

  /** Paused by its own trouble, until an operator resumes it. */
  SinkState stopped(Trouble by) {
    return new SinkState(position, last, delivered, true, Optional.of(by));
  }

  SinkState paused(boolean now) {
    return new SinkState(position, last, delivered, now, now ? Optional.empty() : trouble);
  }
}
