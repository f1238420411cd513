package dev.writ.guardian.policy.retention;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * When contents are deleted. Documents never are.
 *
 * @param everyS how often a server applies the rules, in seconds; absent: only an operator does
 * @param rules in the order in which they are asked
 * @param sealed which contents are kept under keys that can be destroyed; absent: none
 * @param archiveAfterS how long after its closing a run may be moved to the archive, in seconds;
 *     absent: none may
 */
public record Retention(
    Optional<Long> everyS,
    List<RetentionRule> rules,
    Optional<SealedContents> sealed,
    Optional<Long> archiveAfterS) {
  /** What holds where policy has no section {@code retention}: everything is kept. */
  public static final Retention KEEP_ALL =
      new Retention(Optional.empty(), List.of(), Optional.empty(), Optional.empty());

  private static final long SHORTEST_S = 60;
  private static final long LONGEST_S = 366L * 86_400;
  private static final long ARCHIVE_LONGEST_S = 100L * LONGEST_S;

  public static Retention read(Section section) {
    Retention retention =
        new Retention(
            section.optional("every_s", key -> section.between(key, SHORTEST_S, LONGEST_S)),
            section.list("rules", item -> RetentionRule.read(item.itemSection())),
            section.optional("sealed", key -> SealedContents.read(section.section(key))),
            section.optional("archive_after_s", key -> section.between(key, 0, ARCHIVE_LONGEST_S)));
    section.require(
        "rules",
        retention.rules.stream().map(RetentionRule::name).distinct().count()
            == retention.rules.size(),
        "two rules have one name");
    section.end();
    return retention;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putIfPresent("every_s", everyS, JsonValue::of)
        .putList("rules", rules, RetentionRule::toJson)
        .putIfPresent("sealed", sealed, SealedContents::toJson)
        .putIfPresent("archive_after_s", archiveAfterS, JsonValue::of)
        .build();
  }

  /** The rule that decides about a content; none: it is kept. */
  public Optional<RetentionRule> rule(
      ContentClass content, String tenant, String subject, String tool) {
    return rules.stream().filter(rule -> rule.covers(content, tenant, subject, tool)).findFirst();
  }
}
