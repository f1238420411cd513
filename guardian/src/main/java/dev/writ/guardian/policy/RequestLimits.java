package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;

/**
 * What any request must keep.
 *
 * @param requestAgeMaxS oldest request that is received, in seconds
 * @param pendingMaxS how long a request may wait for approvals, in seconds
 * @param requestBytesMax size of the request's envelope, in bytes
 */
public record RequestLimits(long requestAgeMaxS, long pendingMaxS, long requestBytesMax) {
  static RequestLimits read(Section section) {
    RequestLimits limits =
        new RequestLimits(
            section.between("request_age_max_s", 1, 86_400),
            section.between("pending_max_s", 10, 366L * 86_400),
            section.between("request_bytes_max", 1, 16 << 20));
    section.end();
    return limits;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("request_age_max_s", requestAgeMaxS)
        .put("pending_max_s", pendingMaxS)
        .put("request_bytes_max", requestBytesMax)
        .build();
  }
}
