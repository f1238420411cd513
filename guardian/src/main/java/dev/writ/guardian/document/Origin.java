package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * For a request that a surface signed for a caller without a key of its own: where it came from
 * (PROTOCOL 32).
 *
 * @param raw digest of the surface's raw request
 */
public record Origin(String surface, String method, String principal, Digest raw) {
  static Origin read(Fields fields) {
    Origin origin =
        new Origin(
            fields.name("surface"),
            fields.name("method"),
            fields.name("principal"),
            fields.digest("raw"));
    fields.end();
    return origin;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("surface", surface)
        .put("method", method)
        .put("principal", principal)
        .put("raw", raw)
        .build();
  }
}
