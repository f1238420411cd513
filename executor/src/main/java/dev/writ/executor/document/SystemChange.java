package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;

/**
 * An operator's change to the installation: a key enrolled or revoked, a tool prohibited, a
 * restored backup taken into service. Each is an event of the system run (PROTOCOL 28).
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

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("kind", kind)
        .put("detail", detail)
        .put("changed_at", changedAt)
        .build();
  }
}
