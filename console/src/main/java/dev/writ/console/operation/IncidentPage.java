package dev.writ.console.operation;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.List;

/**
 * Incidents of a part of the log.
 *
 * @param incidents the latest first
 * @param searchedFrom the first position of that part; 0 where nothing is before it
 */
public record IncidentPage(List<Incident> incidents, long searchedFrom) {
  public IncidentPage {
    incidents = List.copyOf(incidents);
  }

  /**
   * One of them; nothing of what its tool was given or gave (spec/incidents.md).
   *
   * @param id as webhooks tell it
   * @param request the effect that it is about
   */
  public record Incident(
      String id,
      Instant at,
      String kind,
      String code,
      String subject,
      String tool,
      String request) {

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("id", id)
          .put("at", at)
          .put("kind", kind)
          .put("code", code)
          .put("subject", subject)
          .put("tool", tool)
          .put("request", request)
          .build();
    }
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("incidents", incidents, Incident::toJson)
        .put("searched_from", searchedFrom)
        .put("complete", searchedFrom == 0)
        .build();
  }
}
