package dev.writ.guardian.policy.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.Optional;

/**
 * Switches effects on or off (seed 004: by tenant, tool, category). An absent member matches all.
 *
 * @param category of the tool, by its manifest; a tool without one is in none
 */
public record FeatureFlag(
    Optional<String> tenant, Optional<String> tool, Optional<String> category, boolean enabled) {

  static FeatureFlag read(Section section) {
    Section match = section.section("match");
    FeatureFlag flag =
        new FeatureFlag(
            match.optional("tenant", match::name),
            match.optional("tool", match::name),
            match.optional("category", match::name),
            section.bool("enabled"));
    match.end();
    section.end();
    return flag;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object().put("match", match()).put("enabled", enabled).build();
  }

  /** The part of the flag that selects effects, as the policy writes it. */
  public JsonValue.Obj match() {
    return JsonValue.object()
        .putIfPresent("tenant", tenant, JsonValue::of)
        .putIfPresent("tool", tool, JsonValue::of)
        .putIfPresent("category", category, JsonValue::of)
        .build();
  }

  boolean applies(String aTenant, String aTool, Optional<String> aCategory) {
    return tenant.filter(t -> !t.equals(aTenant)).isEmpty()
        && tool.filter(t -> !t.equals(aTool)).isEmpty()
        && (category.isEmpty() || category.equals(aCategory));
  }
}
