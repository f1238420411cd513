package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Where a reference within a schema leads: through keywords that have schemas, to a schema. */
final class SchemaPlace {
  private static final List<String> ONE =
      List.of(
          "additionalItems",
          "additionalProperties",
          "contains",
          "else",
          "if",
          "items",
          "not",
          "propertyNames",
          "then",
          "unevaluatedItems",
          "unevaluatedProperties");
  private static final List<String> MANY =
      List.of("allOf", "anyOf", "items", "oneOf", "prefixItems");
  private static final List<String> NAMED =
      List.of("$defs", "definitions", "dependentSchemas", "patternProperties", "properties");
  private static final int LENGTH_MAX = 1_000;

  private SchemaPlace() {}

  /**
   * Whether references within a schema are resolved against another place than the root's: it has
   * an address of its own.
   */
  static boolean isElsewhere(JsonValue.Obj schema) {
    return schema.get("$id") != null || schema.get("id") instanceof JsonValue.Str;
  }

  /** The schema at a reference's pointer; empty where none is, or another document may be meant. */
  static Optional<JsonValue> find(JsonValue.Obj root, String reference) {
    Optional<String> pointer = decoded(reference);
    if (pointer.isEmpty() || !pointer.get().startsWith("#/")) {
      return Optional.empty();
    }
    String[] tokens = pointer.get().substring(2).split("/", -1);
    JsonValue value = root;
    int at = 0;
    while (at < tokens.length) {
      if (!(value instanceof JsonValue.Obj schema) || value != root && isElsewhere(schema)) {
        return Optional.empty();
      }
      String keyword = tokens[at++];
      JsonValue below = schema.get(keyword);
      if (below instanceof JsonValue.Arr list && MANY.contains(keyword) && at < tokens.length) {
        value = item(list, tokens[at++]);
      } else if (below instanceof JsonValue.Obj named
          && NAMED.contains(keyword)
          && at < tokens.length) {
        value = named.get(tokens[at++].replace("~1", "/").replace("~0", "~"));
      } else {
        value = ONE.contains(keyword) ? below : null;
      }
    }
    return Optional.ofNullable(value)
        .filter(v -> v instanceof JsonValue.Obj || v instanceof JsonValue.Bool);
  }

  private static JsonValue item(JsonValue.Arr list, String token) {
    boolean index = token.matches("0|[1-9][0-9]{0,4}");
    return index && Integer.parseInt(token) < list.items().size()
        ? list.items().get(Integer.parseInt(token))
        : null;
  }

  private static Optional<String> decoded(String reference) {
    if (reference.length() > LENGTH_MAX || reference.indexOf('%') < 0) {
      return Optional.of(reference).filter(r -> r.length() <= LENGTH_MAX);
    }
    try {
      String text = URLDecoder.decode(reference.replace("+", "%2B"), StandardCharsets.UTF_8);
      return Optional.of(text).filter(t -> t.indexOf('\ufffd') < 0);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
