package dev.writ.surfaces.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.pipeline.IncidentKind;
import java.util.Optional;

/**
 * Seed 004's incident.
 *
 * @param code stable: one of spec/errors.md, or the driver's word for the cause
 * @param approval the request to approve, if only approvals are missing
 */
public record ToolExecutionIncident(
    IncidentKind kind, String code, String message, Optional<JsonValue.Obj> approval) {

  ToolExecutionIncident(IncidentKind kind, String code, String message) {
    this(kind, code, message, Optional.empty());
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("kind", kind.name())
        .put("code", code)
        .put("message", message)
        .putIfPresent("approval", approval, a -> a)
        .build();
  }
}
