package dev.writ.guardian.document;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * A parameter that does not fit its tool's schema. It never tells the parameter's value.
 *
 * @param at the place: {@code params} and a JSON Pointer
 * @param keyword of the schema that it does not fit
 * @param name of the parameter that is missing or unknown at that place
 * @param nearest the listed parameter whose name is nearest to an unknown one
 * @param expected what the schema says at that keyword, where it is short
 */
public record ParameterFault(
    String at,
    String keyword,
    Optional<String> name,
    Optional<String> nearest,
    Optional<String> expected) {

  /** For people and models. */
  public String sentence() {
    return switch (keyword) {
      case "required" -> "The parameter \"" + name.orElse("") + "\" is missing in " + at + ".";
      case "additionalProperties", "unevaluatedProperties" ->
          at
              + " has no parameter \""
              + name.orElse("")
              + "\""
              + nearest.map(n -> "; did you mean \"" + n + "\"?").orElse(".");
      default ->
          at + " does not fit the schema: " + keyword + expected.map(e -> " " + e).orElse("") + ".";
    };
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("at", at)
        .put("keyword", keyword)
        .putIfPresent("name", name, JsonValue::of)
        .putIfPresent("did_you_mean", nearest, JsonValue::of)
        .putIfPresent("expected", expected, JsonValue::of)
        .build();
  }
}
