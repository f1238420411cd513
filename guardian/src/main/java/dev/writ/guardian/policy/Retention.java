package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * When contents are deleted. Documents never are.
 *
 * @param everyS how often a server applies the rules, in seconds; absent: only an operator does
 * @param rules in the order in which they are asked
 */
public record Retention(Optional<Long> everyS, List<RetentionRule> rules) {
  /** What holds where policy has no section {@code retention}: everything is kept. */
  public static final Retention KEEP_ALL = new Retention(Optional.empty(), List.of());

  private static final long SHORTEST_S = 60;
  private static final long LONGEST_S = 366L * 86_400;

  static Retention read(Section section) {
    Retention retention =
        new Retention(
            section.optional("every_s", key -> section.between(key, SHORTEST_S, LONGEST_S)),
            section.list("rules", item -> RetentionRule.read(item.itemSection())));
    section.require(
        "rules",
        retention.rules.stream().map(RetentionRule::name).distinct().count()
            == retention.rules.size(),
        "two rules have one name");
    section.end();
    return retention;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putIfPresent("every_s", everyS, JsonValue::of)
        .putList("rules", rules, RetentionRule::toJson)
        .build();
  }

  /** The rule that decides about a content; none: it is kept. */
  public Optional<RetentionRule> rule(
      ContentClass content, String tenant, String subject, String tool) {
    return rules.stream().filter(rule -> rule.covers(content, tenant, subject, tool)).findFirst();
  }
}
