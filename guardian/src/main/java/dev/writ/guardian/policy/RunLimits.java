package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.time.Instant;
import java.util.Optional;

/**
 * When a run that a surface opened for its callers is closed (PROTOCOL 33). One that waits for
 * something, runs something or is in doubt stays open.
 *
 * @param idleMaxS after its last event, in seconds
 * @param lifeMaxS after its first event, in seconds
 */
public record RunLimits(long idleMaxS, Optional<Long> lifeMaxS) {
  private static final long LONGEST_S = 366L * 86_400;

  static RunLimits read(Section section) {
    RunLimits limits =
        new RunLimits(
            section.between("idle_max_s", 1, LONGEST_S),
            section.optional("life_max_s", key -> section.between(key, 1, LONGEST_S)));
    section.end();
    return limits;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("idle_max_s", idleMaxS)
        .putIfPresent("life_max_s", lifeMaxS, JsonValue::of)
        .build();
  }

  /** Whether a run with events at these times is to be closed now. */
  public boolean isOver(Instant first, Instant last, Instant now) {
    return !last.plusSeconds(idleMaxS).isAfter(now)
        || lifeMaxS.filter(s -> !first.plusSeconds(s).isAfter(now)).isPresent();
  }
}
