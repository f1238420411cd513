package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;

/**
 * The origin of a request that a surface signed for a caller without a key of its own (protocol
 * rule 32).
 *
 * @param raw digest of the surface's raw request
 * @param execution a name by which the surface's callers know the execution
 * @param run the run that the caller named, if the surface may not vouch for this subject in it:
 *     the request then names another run, in which the refusal is recorded
 * @param roles roles that the caller's credential is narrowed to; absent if it is not narrowed.
 *     Only roles among them that policy gives the subject can cover the effect.
 */
public record Origin(
    String surface,
    String method,
    String principal,
    Digest raw,
    Optional<String> execution,
    Optional<String> run,
    Optional<List<String>> roles) {

  public Origin {
    roles = roles.map(List::copyOf);
  }

  public Origin(String surface, String method, String principal, Digest raw) {
    this(surface, method, principal, raw, Optional.empty(), Optional.empty(), Optional.empty());
  }

  static Origin read(Fields fields) {
    Origin origin =
        new Origin(
            fields.name("surface"),
            fields.name("method"),
            fields.name("principal"),
            fields.digest("raw"),
            fields.optional("execution", fields::name),
            fields.optional("run", fields::name),
            fields.optional("roles", key -> fields.list(key, Fields::stringItem)));
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
        .putIfPresent("run", run, JsonValue::of)
        .putIfPresent("roles", roles, names -> JsonValue.of(texts(names)))
        .build();
  }

  private static List<JsonValue> texts(List<String> names) {
    return names.stream().<JsonValue>map(JsonValue::of).toList();
  }
}
