package dev.writ.guardian.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * Which ledger an intent is for (protocol rule 27).
 *
 * @param origin the log's origin line
 * @param incarnation rises when a restored backup is taken into service; earlier intents are void
 */
public record Audience(String origin, long incarnation) {
  static Audience read(Fields fields) {
    Audience audience = new Audience(fields.name("origin"), fields.count("incarnation"));
    fields.end();
    return audience;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object().put("origin", origin).put("incarnation", incarnation).build();
  }
}
