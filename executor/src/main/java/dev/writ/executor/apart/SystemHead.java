package dev.writ.executor.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * How far a system run is: keys, policies and tools that are in force follow from it.
 *
 * @param events how many it has
 * @param head id of the last
 */
public record SystemHead(long events, Digest head) {
  public JsonValue.Obj toJson() {
    return JsonValue.object().put("events", events).put("head", head).build();
  }

  /** Reads one. */
  public static SystemHead read(Fields fields) {
    SystemHead read = new SystemHead(fields.count("events"), fields.digest("head"));
    fields.end();
    return read;
  }
}
