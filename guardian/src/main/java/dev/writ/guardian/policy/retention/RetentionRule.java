package dev.writ.guardian.policy.retention;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.rule.Match;
import dev.writ.guardian.yaml.Section;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How long contents of some classes are kept. The first rule that covers a content decides.
 *
 * @param contents the classes it is about, sorted
 * @param match whose contents, and of which tool; without a role
 * @param keepS how long a content is kept, from the event that names it, in seconds
 * @param bytesMax if present, older contents are deleted only while those of the rule have more
 *     bytes than this together, the oldest first
 */
public record RetentionRule(
    String name, List<ContentClass> contents, Match match, long keepS, Optional<Long> bytesMax) {
  private static final long LONGEST_S = 100L * 366 * 86_400;

  static RetentionRule read(Section section) {
    RetentionRule rule =
        new RetentionRule(
            section.name("name"),
            section
                .list("contents", item -> item.itemOf(ContentClass.ALL, ContentClass::text))
                .stream()
                .sorted()
                .toList(),
            section
                .optional("match", key -> Match.read(section.section(key)))
                .orElseGet(Match::everything),
            section.between("keep_s", 0, LONGEST_S),
            section.optional("bytes_max", section::count));
    section.require("contents", !rule.contents.isEmpty(), "no class of contents");
    if (rule.contents.stream().distinct().count() < rule.contents.size()) {
      throw section.at("contents", GuardianError.POLICY_DUPLICATE, "a class is written twice");
    }
    section.require("match", rule.match.role().isEmpty(), "a role: no content has one");
    section.end();
    return rule;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .putList("contents", contents, content -> JsonValue.of(content.text()))
        .put("match", match.toJson())
        .put("keep_s", keepS)
        .putIfPresent("bytes_max", bytesMax, JsonValue::of)
        .build();
  }

  boolean covers(ContentClass content, String tenant, String subject, String tool) {
    return contents.contains(content) && match.applies(tenant, subject, List.of(), tool);
  }

  /** Whether a content that an event of that time names is old enough to be deleted. */
  public boolean isOver(Instant named, Instant now) {
    return !named.plusSeconds(keepS).isAfter(now);
  }
}
