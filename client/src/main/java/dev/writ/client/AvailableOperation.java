package dev.writ.client;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import java.util.Optional;

/**
 * An operation that the caller's roles may use.
 *
 * @param isDefault whether its version is used where none is named
 * @param input the JSON Schema of its params
 * @param resources the most that tool and role allow
 */
public record AvailableOperation(
    String tool,
    String version,
    String name,
    boolean isDefault,
    JsonValue.Obj input,
    Optional<JsonValue> output,
    String sandbox,
    Resources resources) {

  static AvailableOperation read(JsonValue.Obj tool, JsonValue operation) {
    Fields of = Fields.of("tool", tool);
    Fields fields = Fields.of("operation", operation);
    return new AvailableOperation(
        of.name("toolId"),
        of.name("toolVersion"),
        fields.name("name"),
        of.bool("default"),
        fields.obj("input"),
        fields.optional("output", fields::value),
        fields.name("sandbox"),
        Resources.read(fields.fields("resources")));
  }

  /** What it does, as its author says; empty where nothing is said. */
  public String description() {
    return input.get("description") instanceof JsonValue.Str text ? text.value() : "";
  }
}
