package dev.writ.console.tool;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.Optional;

/**
 * A signed document of the system run about a version of a tool.
 *
 * @param kind of its event
 * @param by the subject of the key that signed it
 * @param verdict an approver's
 * @param role an approver's
 * @param stage an operator's
 * @param findings how many a validation has
 */
record ToolStep(
    String tool,
    String version,
    String kind,
    Instant at,
    String by,
    Optional<String> verdict,
    Optional<String> role,
    Optional<String> stage,
    Optional<Integer> findings) {

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("kind", kind)
        .put("at", at)
        .put("by", by)
        .putIfPresent("verdict", verdict, JsonValue::of)
        .putIfPresent("role", role, JsonValue::of)
        .putIfPresent("stage", stage, JsonValue::of)
        .putIfPresent("findings", findings, JsonValue::of)
        .build();
  }

  /** When it was said, and who said it. */
  JsonValue.Obj said() {
    return JsonValue.object().put("at", at).put("by", by).build();
  }
}
