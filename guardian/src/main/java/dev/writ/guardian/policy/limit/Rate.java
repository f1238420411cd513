package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.Match;
import dev.writ.guardian.yaml.Section;
import java.time.Instant;
import java.util.List;

/**
 * At most so many allowed requests within any span of that length.
 *
 * @param perS length of the sliding span in seconds
 */
public record Rate(String name, AccountScope scope, long limit, long perS, Match match) {
  public static Rate read(Section section) {
    Rate rate =
        new Rate(
            section.name("name"),
            section.oneOf("scope", List.of(AccountScope.values()), AccountScope::text),
            section.between("limit", 0, JsonValue.Num.MAX_INTEGER),
            section.between("per_s", 1, 86_400),
            section
                .optional("match", key -> Match.read(section.section(key)))
                .orElseGet(Match::everything));
    section.end();
    return rate;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("scope", scope.text())
        .put("limit", limit)
        .put("per_s", perS)
        .put("match", match.toJson())
        .build();
  }

  /** Requests at this time or before count no more. */
  public Instant spanStart(Instant now) {
    return now.minusSeconds(perS);
  }
}
