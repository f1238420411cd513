package dev.writ.guardian.policy.rule;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;

/** An effect that may come only after another one succeeded in the same run. */
public record Order(EffectPattern effect, EffectPattern after) {
  public static Order read(Section section) {
    Section after = section.section("after");
    after.value("operation");
    Order order =
        new Order(EffectPattern.read(section.section("effect")), EffectPattern.read(after));
    section.end();
    return order;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object().put("effect", effect.toJson()).put("after", after.toJson()).build();
  }
}
