package dev.writ.client;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;

/**
 * A signed request with the documents that it names as evidence, such as a mandate. Kept, its bytes
 * can be sent by whoever comes after a crash, and it runs once.
 */
public record SignedRequest(Envelope request, List<Envelope> evidence) {
  public SignedRequest {
    evidence = List.copyOf(evidence);
  }

  /** What is sent: the envelope alone, where nothing goes with it. */
  public byte[] toBytes() {
    if (evidence.isEmpty()) {
      return request.toBytes();
    }
    return Jcs.write(
        JsonValue.object()
            .putList("evidence", evidence, Envelope::toJson)
            .put("request", request.toJson())
            .build());
  }

  /**
   * Reads what {@link #toBytes} wrote.
   *
   * @throws WritException {@code CAN-0xx}
   */
  public static SignedRequest parse(byte[] bytes) {
    JsonValue sent = Jcs.parse(bytes);
    if (!(sent instanceof JsonValue.Obj object) || object.get("request") == null) {
      return new SignedRequest(Envelope.parse(bytes), List.of());
    }
    Fields fields = Fields.of("request", sent);
    SignedRequest read =
        new SignedRequest(
            envelope(fields.value("request")),
            fields.list("evidence", (_, value) -> envelope(value)));
    fields.end();
    return read;
  }

  private static Envelope envelope(JsonValue value) {
    return Envelope.parse(Jcs.write(value));
  }
}
