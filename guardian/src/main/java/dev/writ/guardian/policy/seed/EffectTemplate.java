package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The effect for a surface's request. A string in {@code params} that is exactly {@code $name} is
 * replaced by that value of the request; {@code $$} at the beginning stands for one dollar sign.
 *
 * @param operation of the tool
 * @param params as in the policy
 */
public record EffectTemplate(String tool, String version, String operation, JsonValue.Obj params) {

  static EffectTemplate read(Section section, List<String> variables) {
    EffectTemplate template =
        new EffectTemplate(
            section.name("tool"),
            section.name("version"),
            section.name("operation"),
            section.object("params"));
    unknown(template.params, variables)
        .ifPresent(
            name -> section.require("params", false, "\"" + name + "\" is none of " + variables));
    section.end();
    return template;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool)
        .put("version", version)
        .put("operation", operation)
        .put("params", params)
        .build();
  }

  /** The params with the request's values; members without a value are left out. */
  public JsonValue.Obj fill(SortedMap<String, JsonValue> values) {
    return (JsonValue.Obj) fill(params, values).orElseThrow();
  }

  private static Optional<JsonValue> fill(JsonValue value, SortedMap<String, JsonValue> values) {
    return switch (value) {
      case JsonValue.Str text when text.value().startsWith("$$") ->
          Optional.of(JsonValue.of(text.value().substring(1)));
      case JsonValue.Str text when text.value().startsWith("$") ->
          Optional.ofNullable(values.get(text.value()));
      case JsonValue.Arr list ->
          Optional.of(
              JsonValue.of(
                  list.items().stream().flatMap(item -> fill(item, values).stream()).toList()));
      case JsonValue.Obj object -> {
        TreeMap<String, JsonValue> members = new TreeMap<>();
        object
            .members()
            .forEach((key, member) -> fill(member, values).ifPresent(v -> members.put(key, v)));
        yield Optional.of(new JsonValue.Obj(members));
      }
      default -> Optional.of(value);
    };
  }

  private static Optional<String> unknown(JsonValue value, List<String> variables) {
    return switch (value) {
      case JsonValue.Str text ->
          text.value().startsWith("$")
                  && !text.value().startsWith("$$")
                  && !variables.contains(text.value())
              ? Optional.of(text.value())
              : Optional.empty();
      case JsonValue.Arr list ->
          list.items().stream().flatMap(item -> unknown(item, variables).stream()).findFirst();
      case JsonValue.Obj object ->
          object.members().values().stream()
              .flatMap(member -> unknown(member, variables).stream())
              .findFirst();
      default -> Optional.empty();
    };
  }
}
