package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/** Exactly which tool: name, version and the digest of its package. */
public record ToolRef(String name, String version, Digest packageDigest) {
  public static ToolRef read(Fields fields) {
    ToolRef tool =
        new ToolRef(fields.name("name"), fields.name("version"), fields.digest("package"));
    fields.end();
    return tool;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("version", version)
        .put("package", packageDigest)
        .build();
  }
}
