package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * Seed 004's context: the caller, and the circumstances of the decision. The server fills it; none
 * of it comes from a client.
 *
 * @param correlation the run
 * @param region where the server stood that took the request, if it has one
 */
public record ToolExecutionContext(
    String tenant,
    String user,
    String correlation,
    PolicySnapshot policySnapshot,
    Optional<String> region) {

  /**
   * The circumstances of the decision.
   *
   * @param policy digest of the policy
   * @param snapshot digest of policy, package and stage, sandbox profile and kernel
   */
  public record PolicySnapshot(Digest policy, Digest snapshot) {}

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("user", user)
        .put("correlation", correlation)
        .put(
            "policySnapshot",
            JsonValue.object()
                .put("policy", policySnapshot.policy())
                .put("snapshot", policySnapshot.snapshot())
                .build())
        .putIfPresent("region", region, JsonValue::of)
        .build();
  }
}
