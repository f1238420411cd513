package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.Match;
import dev.writ.guardian.yaml.Section;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * So much of a unit in each window. Windows are aligned to 1970-01-01T00:00:00Z.
 *
 * @param limit absent where policy says {@code unlimited}
 * @param windowS length of a window in seconds
 */
public record Budget(
    String name, AccountScope scope, Unit unit, Optional<Long> limit, long windowS, Match match) {

  /** What is counted. */
  public enum Unit {
    CALLS,
    CPU_MS,
    COST;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public static Budget read(Section section) {
    Budget budget =
        new Budget(
            section.name("name"),
            section.oneOf("scope", List.of(AccountScope.values()), AccountScope::text),
            section.oneOf("unit", List.of(Unit.values()), Unit::text),
            section.limit("limit"),
            section.between("window_s", 1, 366L * 86_400),
            section
                .optional("match", key -> Match.read(section.section(key)))
                .orElseGet(Match::everything));
    section.end();
    return budget;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("scope", scope.text())
        .put("unit", unit.text())
        .put("limit", limit.<JsonValue>map(JsonValue::of).orElse(JsonValue.of("unlimited")))
        .put("window_s", windowS)
        .put("match", match.toJson())
        .build();
  }

  /** The start of the window that holds a time; its end is exclusive. */
  public Instant windowStart(Instant time) {
    return Instant.ofEpochSecond(Math.floorDiv(time.getEpochSecond(), windowS) * windowS);
  }

  public Instant windowEnd(Instant time) {
    return windowStart(time).plusSeconds(windowS);
  }
}
