package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;

/**
 * A record that a workspace was wiped.
 *
 * @param reason the caller's reason, such as {@code run-closed} or {@code expired}
 */
public record Wiped(String tenant, String run, String reason, Instant at) {

  static Wiped read(JsonValue value) {
    Fields fields = Fields.of("wiped", value);
    Wiped wiped =
        new Wiped(
            fields.name("tenant"), fields.name("run"), fields.name("reason"), fields.time("at"));
    fields.end();
    return wiped;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("run", run)
        .put("reason", reason)
        .put("at", at)
        .build();
  }
}
