package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;

/**
 * The circumstances that a decision was made under (the seed's phenotype hash, protocol rule 12):
 * the executor refuses a decision that was made under other ones.
 */
public final class Snapshot {
  /**
   * The version of the judgement's specification, not of the build: it changes only if some
   * decision would get other bytes.
   */
  public static final String KERNEL = "writ/1";

  private Snapshot() {}

  /**
   * @param policy digest of the policy in force
   * @param tool the resolved tool
   * @param stage the tool's rollout stage, {@code active} where policy approves it
   * @param sandboxProfile digest of the sandbox profile's description
   */
  public static Digest digest(Digest policy, ToolRef tool, String stage, Digest sandboxProfile) {
    return Jcs.digest(
        JsonValue.object()
            .put("policy", policy)
            .put("tool", JsonValue.object().put("ref", tool.toJson()).put("stage", stage).build())
            .put("sandbox", sandboxProfile)
            .put("kernel", KERNEL)
            .build());
  }
}
