package dev.writ.executor.apart;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the guardian orders of the executor.
 *
 * @param system the system run under which it was decided
 * @param at the guardian's time: of {@code effect.dispatched} where there is a dispatch
 * @param dispatch absent for the question whether it would be served
 */
public record ApartOrder(
    SystemHead system,
    Envelope request,
    Envelope decision,
    Envelope intent,
    Instant at,
    Optional<Dispatching> dispatch) {
  /** The envelopes of the order itself, which are the first parts. */
  private static final int OWN = 3;

  /**
   * The effect is dispatched in the guardian's log.
   *
   * @param begins whether it may begin now; otherwise only its end is asked for, and what never
   *     began never will
   * @param end where the guardian's chain of the run's receipts ends
   * @param carried events of the run that the executor does not have yet
   */
  public record Dispatching(boolean begins, ChainEnd end, CarriedEvents carried) {}

  /** The same, which asks for the end of what may have begun. */
  public ApartOrder ending() {
    return new ApartOrder(
        system,
        request,
        decision,
        intent,
        at,
        dispatch.map(d -> new Dispatching(false, d.end(), d.carried())));
  }

  /** The bytes' form: request, decision, intent, then the documents that are carried. */
  public ApartMessage message() {
    List<byte[]> parts = new ArrayList<>();
    parts.add(request.toBytes());
    parts.add(decision.toBytes());
    parts.add(intent.toBytes());
    dispatch.ifPresent(d -> d.carried().documents().forEach(each -> parts.add(each.toBytes())));
    return new ApartMessage(
        JsonValue.object()
            .put("at", at)
            .putIfPresent(
                "dispatch",
                dispatch,
                d ->
                    JsonValue.object()
                        .put("begins", d.begins())
                        .put("carried", d.carried().toJson())
                        .put("end", d.end().toJson())
                        .build())
            .put("system", system.toJson())
            .build(),
        parts);
  }

  /**
   * Reads one. Nothing of it is verified yet.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-0xx}, {@code LED-02x}
   */
  public static ApartOrder of(ApartMessage message) {
    Envelope request = Envelope.parse(message.part(0));
    Envelope decision = Envelope.parse(message.part(1));
    Envelope intent = Envelope.parse(message.part(2));
    List<Envelope> documents =
        message.parts().subList(OWN, message.parts().size()).stream().map(Envelope::parse).toList();
    Fields fields = Fields.of("order", message.said());
    ApartOrder order =
        new ApartOrder(
            SystemHead.read(fields.fields("system")),
            request,
            decision,
            intent,
            fields.time("at"),
            fields.optional("dispatch", key -> dispatching(fields.fields(key), documents)));
    fields.end();
    return order;
  }

  private static Dispatching dispatching(Fields fields, List<Envelope> documents) {
    Dispatching read =
        new Dispatching(
            fields.bool("begins"),
            ChainEnd.read(fields.fields("end")),
            CarriedEvents.read(fields.fields("carried"), documents));
    fields.end();
    return read;
  }
}
