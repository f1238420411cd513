package dev.writ.sinks.feed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.event.Event;
import java.util.Optional;

/** Which events of the journal are records, and with which fields. */
@FunctionalInterface
public interface RecordReader {
  /**
   * What a record tells.
   *
   * @param scope whose it is
   * @param fields its content
   */
  record Found(Scope scope, JsonValue.Obj fields) {}

  /** The record of an event; absent for one that is none. The same event gives the same record. */
  Optional<Found> read(Event event);
}
