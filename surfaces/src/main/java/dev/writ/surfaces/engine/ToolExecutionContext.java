package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;

/**
 * Seed 004's context: who it is for and under what it was judged. The server fills it; nothing of
 * it is taken from a client.
 *
 * @param correlation the run
 */
public record ToolExecutionContext(
    String tenant, String user, String correlation, PolicySnapshot policySnapshot) {

  /**
   * What the decision was made under.
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
        .build();
  }
}
