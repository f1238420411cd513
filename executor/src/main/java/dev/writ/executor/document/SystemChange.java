package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.executor.journal.EventKind;
import java.time.Instant;
import java.util.Optional;

/**
 * An operator's change to the installation: a key enrolled or revoked, a tool prohibited, a
 * restored backup taken into service. Each is an event of the system run (protocol rule 28).
 *
 * @param kind the event's kind, for example {@code key.enrolled}
 * @param detail what changed; its form depends on the kind (spec/journal.md)
 */
public record SystemChange(String kind, JsonValue.Obj detail, Instant changedAt) {

  public static final String TYPE = PayloadTypes.of("system-change");

  public static SystemChange read(JsonValue document) {
    Fields fields = Fields.of("system-change", document);
    SystemChange change =
        new SystemChange(fields.name("kind"), fields.obj("detail"), fields.time("changed_at"));
    fields.end();
    return change;
  }

  /**
   * The incarnation that begins with it.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x}, {@code EXE-981} for another form
   */
  public Optional<Long> incarnation() {
    return switch (kind) {
      case EventKind.CLOCK_CORRECTED -> ClockCorrection.read(detail).incarnation();
      case EventKind.LEDGER_INCARNATED -> {
        Fields fields = Fields.of("detail", detail);
        long next = fields.count("incarnation");
        fields.end();
        yield Optional.of(next);
      }
      default -> Optional.empty();
    };
  }

  /**
   * The id of the key that a revocation revokes.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x} for another form
   */
  public String revokedKey() {
    Fields fields = Fields.of("detail", detail);
    String kid = fields.name("kid");
    fields.end();
    return kid;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("kind", kind)
        .put("detail", detail)
        .put("changed_at", changedAt)
        .build();
  }
}
