package dev.writ.executor.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.event.Event;
import java.util.List;
import java.util.TreeMap;

/**
 * Events of a run of the guardian's log that the executor does not have yet, with the documents
 * that they are about.
 *
 * @param from the place of the first event that was looked at, counted in the guardian's run
 * @param next the place behind the last one
 * @param events in their order; those that the executor writes itself are left out
 * @param documents bodies of the events, and what these name
 */
public record CarriedEvents(long from, long next, List<Event> events, List<Envelope> documents) {
  public CarriedEvents {
    events = List.copyOf(events);
    documents = List.copyOf(documents);
  }

  /** The documents by their ids. */
  public TreeMap<Digest, Envelope> byId() {
    TreeMap<Digest, Envelope> all = new TreeMap<>();
    documents.forEach(document -> all.put(document.id(), document));
    return all;
  }

  /** What a message's head says of them; the documents are parts. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("from", from)
        .put("next", next)
        .putList("events", events, Event::toJson)
        .build();
  }

  static CarriedEvents read(Fields fields, List<Envelope> documents) {
    CarriedEvents carried =
        new CarriedEvents(
            fields.count("from"),
            fields.count("next"),
            fields.list("events", (_, event) -> Event.parse(Jcs.write(event))),
            documents);
    fields.end();
    return carried;
  }

  /** A message that only carries events. */
  public ApartMessage message() {
    return new ApartMessage(toJson(), documents.stream().map(Envelope::toBytes).toList());
  }

  /**
   * Reads such a message.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-0xx}, {@code LED-02x}
   */
  public static CarriedEvents of(ApartMessage message) {
    return read(
        Fields.of("carried", message.said()),
        message.parts().stream().map(Envelope::parse).toList());
  }
}
