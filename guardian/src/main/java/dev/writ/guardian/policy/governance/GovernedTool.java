package dev.writ.guardian.policy.governance;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * The state of a tool's version in governance at one moment; a recorded input of every decision on
 * such a tool.
 *
 * @param canary the callers that get it in the stage canary; absent in any other stage
 * @param revoked an operator prohibited it, whatever its stage
 */
public record GovernedTool(
    Digest packageDigest, RolloutStage stage, Optional<Canary> canary, boolean revoked) {

  public static GovernedTool read(Fields fields) {
    GovernedTool tool =
        new GovernedTool(
            fields.digest("package"),
            fields.oneOf("stage", RolloutStage.ALL, RolloutStage::text),
            fields.optional("canary", key -> Canary.read(fields.fields(key))),
            fields.optional("revoked", fields::bool).orElse(false));
    fields.end();
    if (fields.has("revoked") && !tool.revoked) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, fields.path() + "/revoked is true, or left out");
    }
    return tool;
  }

  /** {@code revoked} is left out if it is false. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("package", packageDigest)
        .put("stage", stage.text())
        .putIfPresent("canary", canary, Canary::toJson)
        .putIfPresent(
            "revoked", revoked ? Optional.of(true) : Optional.<Boolean>empty(), JsonValue::of)
        .build();
  }

  public GovernedTool asRevoked() {
    return new GovernedTool(packageDigest, stage, canary, true);
  }
}
