package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * When runs that surfaces opened for their callers are closed (protocol rule 33), and who shares
 * them. A run with a waiting request, a running effect or a receipt in doubt stays open.
 *
 * @param idleMaxS after its last event, in seconds
 * @param lifeMaxS after its first event, in seconds
 * @param sharedBy who shares runs; empty: each belongs only to the subject of its first request
 */
public record RunLimits(long idleMaxS, Optional<Long> lifeMaxS, List<RunShare> sharedBy) {
  /**
   * What holds where a policy has no section {@code runs}: closed a day after the last event. It is
   * no part of such a policy's canonical form.
   */
  public static final RunLimits DEFAULT = new RunLimits(86_400, Optional.empty(), List.of());

  private static final long LONGEST_S = 366L * 86_400;

  public static RunLimits read(Section section) {
    RunLimits limits =
        new RunLimits(
            section.between("idle_max_s", 1, LONGEST_S),
            section.optional("life_max_s", key -> section.between(key, 1, LONGEST_S)),
            section.listOrNone("shared_by", item -> RunShare.read(item.itemSection())).stream()
                .sorted(Comparing.by(RunShare::key))
                .toList());
    section.require(
        "shared_by",
        limits.sharedBy.stream().distinct().count() == limits.sharedBy.size(),
        "a share is written twice");
    section.end();
    return limits;
  }

  public JsonValue.Obj toJson() {
    var json =
        JsonValue.object()
            .put("idle_max_s", idleMaxS)
            .putIfPresent("life_max_s", lifeMaxS, JsonValue::of);
    if (!sharedBy.isEmpty()) {
      json.putList("shared_by", sharedBy, RunShare::toJson);
    }
    return json.build();
  }

  /** Whether a run with events at these times must be closed now. */
  public boolean isOver(Instant first, Instant last, Instant now) {
    return !last.plusSeconds(idleMaxS).isAfter(now)
        || lifeMaxS.filter(s -> !first.plusSeconds(s).isAfter(now)).isPresent();
  }
}
