package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;

/** One entry of the proof requirement graph: the requirement that such effects must satisfy. */
public record Rule(EffectPattern effect, Match match, Requirement require) {
  static Rule read(Section section) {
    Rule rule =
        new Rule(
            EffectPattern.read(section.section("effect")),
            section
                .optional("match", key -> Match.read(section.section(key)))
                .orElseGet(Match::everything),
            Requirement.read(section.section("require"), 0));
    section.end();
    return rule;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("effect", effect.toJson())
        .put("match", match.toJson())
        .put("require", require.toJson())
        .build();
  }
}
