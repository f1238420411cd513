package dev.writ.guardian.policy.governance;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.yaml.Section;
import java.util.Optional;

/**
 * A tool package that may run: listed by the policy, or added by governance.
 *
 * @param stage its rollout stage. In the policy's own list it is only a remark, except that {@code
 *     active} versions can be the default
 * @param governed its state in governance; absent for a tool that the policy lists
 */
public record ApprovedTool(ToolRef ref, String stage, Optional<GovernedTool> governed) {
  public static ApprovedTool read(Section section) {
    ApprovedTool tool =
        new ApprovedTool(
            new ToolRef(section.name("name"), section.name("version"), section.digest("package")),
            section.optional("stage", section::name).orElse(RolloutStage.ACTIVE.text()),
            Optional.empty());
    section.end();
    return tool;
  }

  /** A tool of that name and version, with its state in governance. */
  public static ApprovedTool of(String name, String version, GovernedTool governed) {
    return new ApprovedTool(
        new ToolRef(name, version, governed.packageDigest()),
        governed.stage().text(),
        Optional.of(governed));
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", ref.name())
        .put("version", ref.version())
        .put("package", ref.packageDigest())
        .put("stage", stage)
        .build();
  }

  public String key() {
    return key(ref.name(), ref.version());
  }

  public static String key(String name, String version) {
    return name + "\u0000" + version;
  }
}
