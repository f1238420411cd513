package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.time.Duration;
import java.util.Optional;

/**
 * Limits of every request.
 *
 * @param requestAgeMaxS oldest request that is received, in seconds
 * @param pendingMaxS how long a request may wait for approvals, in seconds
 * @param requestBytesMax size of the request's envelope, in bytes
 * @param clockStepMaxS as {@link ClockLimits#step}, in seconds
 * @param clockIdleMaxS as {@link ClockLimits#idle}, in seconds
 */
public record RequestLimits(
    long requestAgeMaxS,
    long pendingMaxS,
    long requestBytesMax,
    Optional<Long> clockStepMaxS,
    Optional<Long> clockIdleMaxS) {
  private static final long CLOCK_STEP_LONGEST_S = 31L * 86_400;
  private static final long CLOCK_IDLE_LONGEST_S = 3_660L * 86_400;

  public static RequestLimits read(Section section) {
    RequestLimits limits =
        new RequestLimits(
            section.between("request_age_max_s", 1, 86_400),
            section.between("pending_max_s", 10, 366L * 86_400),
            section.between("request_bytes_max", 1, 16 << 20),
            section.optional(
                "clock_step_max_s", key -> section.between(key, 1, CLOCK_STEP_LONGEST_S)),
            section.optional(
                "clock_idle_max_s", key -> section.between(key, 1, CLOCK_IDLE_LONGEST_S)));
    section.end();
    return limits;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("request_age_max_s", requestAgeMaxS)
        .put("pending_max_s", pendingMaxS)
        .put("request_bytes_max", requestBytesMax)
        .putIfPresent("clock_step_max_s", clockStepMaxS, JsonValue::of)
        .putIfPresent("clock_idle_max_s", clockIdleMaxS, JsonValue::of)
        .build();
  }

  /**
   * The limits, with defaults for absent members: policies that are older than these limits keep
   * their digests.
   */
  public ClockLimits clock() {
    return new ClockLimits(
        clockStepMaxS.map(Duration::ofSeconds).orElse(ClockLimits.DEFAULT.step()),
        clockIdleMaxS.map(Duration::ofSeconds).orElse(ClockLimits.DEFAULT.idle()));
  }
}
