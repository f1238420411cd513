package dev.writ.sinks.feed;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Scope;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/**
 * One execution, denial, outcome, incident or notice, as sinks get it.
 *
 * @param log origin of the log
 * @param evidence id of the signed receipt, decision or refusal
 * @param at when its event was written
 * @param fields of the seed's stream (spec/surface-tools.md), all of them texts; or of an incident
 *     (spec/incidents.md) or a notice (spec/notices.md); or a whole line of an export
 */
public record SinkRecord(
    RecordId id, String log, Scope scope, Digest evidence, Instant at, JsonValue.Obj fields) {

  /** A field's text; empty if the record does not have the field. */
  public String text(String name) {
    return fields.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** Id of the request that an incident or a notice is about. */
  public String request() {
    return fields.get("ids") instanceof JsonValue.Obj ids
            && ids.get("request") instanceof JsonValue.Str id
        ? id.value()
        : "";
  }

  /** Whether it is a denial. */
  public boolean isDenial() {
    return text("event").equals("tool_denied");
  }

  /** The fields by name. */
  public Map<String, String> texts() {
    TreeMap<String, String> texts = new TreeMap<>();
    fields.members().keySet().forEach(name -> texts.put(name, text(name)));
    return texts;
  }

  /** The approximate memory that it takes, in bytes. */
  long bytes() {
    return 512 + 4L * Jcs.write(fields).length;
  }
}
