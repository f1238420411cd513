package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a server and Writ agreed on.
 *
 * @param server what the server says that it is; nothing depends on it
 * @param offers its capabilities
 * @param meta what each request carries, where the version has no session
 */
record Agreed(
    String version, JsonValue.Obj server, JsonValue.Obj offers, Optional<JsonValue.Obj> meta) {

  boolean isStateless() {
    return meta.isPresent();
  }

  boolean offers(String capability) {
    return offers.get(capability) != null;
  }

  /** Whether the server says when its list of tools changes. */
  boolean saysWhenToolsChange() {
    return offers.get("tools") instanceof JsonValue.Obj tools
        && JsonValue.TRUE.equals(tools.get("listChanged"));
  }

  /** Params as a request carries them. */
  JsonValue.Obj with(JsonValue.Obj params) {
    if (meta.isEmpty()) {
      return params;
    }
    TreeMap<String, JsonValue> members = new TreeMap<>(params.members());
    TreeMap<String, JsonValue> all = new TreeMap<>();
    if (members.get("_meta") instanceof JsonValue.Obj before) {
      all.putAll(before.members());
    }
    all.putAll(meta.get().members());
    members.put("_meta", new JsonValue.Obj(all));
    return new JsonValue.Obj(members);
  }
}
