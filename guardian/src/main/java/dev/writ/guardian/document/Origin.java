package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * For a request that a surface signed for a caller without a key of its own: where it came from
 * (PROTOCOL 32).
 *
 * @param raw digest of the surface's raw request
 * @param execution a name by which the surface's callers know the execution
 */
public record Origin(
    String surface, String method, String principal, Digest raw, Optional<String> execution) {

  public Origin(String surface, String method, String principal, Digest raw) {
    this(surface, method, principal, raw, Optional.empty());
  }

  static Origin read(Fields fields) {
    Origin origin =
        new Origin(
            fields.name("surface"),
            fields.name("method"),
            fields.name("principal"),
            fields.digest("raw"),
            fields.optional("execution", fields::name));
    fields.end();
    return origin;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("surface", surface)
        .put("method", method)
        .put("principal", principal)
        .put("raw", raw)
        .putIfPresent("execution", execution, JsonValue::of)
        .build();
  }
}
