package dev.writ.guardian.policy.rule;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.Optional;

/**
 * Effects of one tool.
 *
 * @param operation all operations where absent
 */
public record EffectPattern(String tool, Optional<String> operation) {
  static EffectPattern read(Section section) {
    EffectPattern pattern =
        new EffectPattern(section.name("tool"), section.optional("operation", section::name));
    section.end();
    return pattern;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool)
        .putIfPresent("operation", operation, JsonValue::of)
        .build();
  }

  public boolean applies(String aTool, String anOperation) {
    return tool.equals(aTool) && operation.filter(o -> !o.equals(anOperation)).isEmpty();
  }

  @Override
  public String toString() {
    return tool + operation.map(o -> "/" + o).orElse("");
  }
}
