package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.yaml.Section;

/**
 * A tool package that may run.
 *
 * @param stage its rollout stage, {@code active} for all
 */
public record ApprovedTool(ToolRef ref, String stage) {
  static ApprovedTool read(Section section) {
    ApprovedTool tool =
        new ApprovedTool(
            new ToolRef(section.name("name"), section.name("version"), section.digest("package")),
            section.optional("stage", section::name).orElse("active"));
    section.end();
    return tool;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", ref.name())
        .put("version", ref.version())
        .put("package", ref.packageDigest())
        .put("stage", stage)
        .build();
  }

  String key() {
    return ref.name() + "\u0000" + ref.version();
  }
}
