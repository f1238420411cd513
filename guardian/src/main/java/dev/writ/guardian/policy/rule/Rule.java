package dev.writ.guardian.policy.rule;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.Optional;

/**
 * One entry of the proof requirement graph: the requirement that such effects must satisfy.
 *
 * @param message what callers are told where it is not met
 */
public record Rule(
    EffectPattern effect, Match match, Requirement require, Optional<String> message) {
  public static Rule read(Section section) {
    Rule rule =
        new Rule(
            EffectPattern.read(section.section("effect")),
            section
                .optional("match", key -> Match.read(section.section(key)))
                .orElseGet(Match::everything),
            Requirement.read(section.section("require"), 0),
            section.optional("message", section::sentence));
    section.require(
        "require", rule.require.mandates().size() <= 1, "asks for several mandates; one is kept");
    section.end();
    return rule;
  }

  /** The mandate that such effects are done under, if the requirement asks for one. */
  public Optional<Requirement.Mandate> mandate() {
    return require.mandates().stream().findFirst();
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("effect", effect.toJson())
        .put("match", match.toJson())
        .put("require", require.toJson())
        .putIfPresent("message", message, JsonValue::of)
        .build();
  }
}
