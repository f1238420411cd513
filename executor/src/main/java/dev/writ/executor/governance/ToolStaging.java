package dev.writ.executor.governance;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.util.Optional;

/**
 * The stage that an operator puts a version into: the {@code detail} of {@code tool.staged}.
 *
 * @param canary the selection of callers; present exactly with the stage canary
 */
public record ToolStaging(ToolRef tool, RolloutStage stage, Optional<Canary> canary) {

  /**
   * @throws WritException {@code CAN-02x}
   */
  public static ToolStaging read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    ToolStaging staging =
        new ToolStaging(
            ToolSubmission.tool(fields),
            fields.oneOf("stage", RolloutStage.ALL, RolloutStage::text),
            fields.optional("canary", key -> Canary.read(fields.fields(key))));
    fields.end();
    if (staging.canary.isPresent() != (staging.stage == RolloutStage.CANARY)) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "detail/canary belongs to the stage canary, and to no other");
    }
    return staging;
  }

  /**
   * @throws WritException {@code EXE-984} for a share that callers choose to be in or not
   */
  public void requireDrawnBySubject() {
    canary
        .filter(Canary::isChosenByCallers)
        .ifPresent(by -> {
          throw new WritException(
              ExecutorError.CANARY_BY_RUN,
              tool.name()
                  + " "
                  + tool.version()
                  + ": percent is "
                  + by.percent()
                  + ", by is missing");
        });
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool.name())
        .put("version", tool.version())
        .put("package", tool.packageDigest())
        .put("stage", stage.text())
        .putIfPresent("canary", canary, Canary::toJson)
        .build();
  }
}
