package dev.writ.guardian;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;

/** The names of members that a schema lists for a place of a value. */
final class SchemaNames {
  private static final String DEFS = "#/$defs/";
  private static final int REFERENCES_MAX = 16;

  private SchemaNames() {}

  /**
   * @param pointer of the value in the instance
   * @return sorted; none where the place is reached by more than properties, items and references
   */
  static List<String> at(JsonValue.Obj root, String pointer) {
    JsonValue.Obj schema = resolved(root, root);
    if (!pointer.isEmpty()) {
      for (String part : pointer.substring(1).split("/", -1)) {
        schema = resolved(root, below(schema, part.replace("~1", "/").replace("~0", "~")));
      }
    }
    return schema.get("properties") instanceof JsonValue.Obj listed
        ? listed.members().keySet().stream().sorted().toList()
        : List.of();
  }

  private static JsonValue.Obj below(JsonValue.Obj schema, String key) {
    if (schema.get("properties") instanceof JsonValue.Obj listed
        && listed.get(key) instanceof JsonValue.Obj found) {
      return found;
    }
    if (schema.get("items") instanceof JsonValue.Obj items) {
      return items;
    }
    return schema.get("additionalProperties") instanceof JsonValue.Obj others
        ? others
        : JsonValue.object().build();
  }

  private static JsonValue.Obj resolved(JsonValue.Obj root, JsonValue.Obj schema) {
    JsonValue.Obj found = schema;
    for (int i = 0;
        i < REFERENCES_MAX
            && found.get("$ref") instanceof JsonValue.Str reference
            && reference.value().startsWith(DEFS)
            && root.get("$defs") instanceof JsonValue.Obj definitions
            && definitions.get(reference.value().substring(DEFS.length()))
                instanceof JsonValue.Obj definition;
        i++) {
      found = definition;
    }
    return found;
  }
}
