package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;

/**
 * Sandbox guarantees that an installation waives. Those that a host can give are enforced
 * nevertheless.
 *
 * @param waived names of guarantees (spec/sandbox.md), sorted
 */
public record SandboxRules(List<String> waived) {
  /**
   * Guarantees that can be waived: limits, and the isolation of sandboxes from each other. Those
   * that confine a program (namespaces, read-only root, capabilities, system calls) cannot: a tool
   * runs confined, or not at all.
   */
  public static final List<String> WAIVABLE =
      List.of(
          "cpu-limit",
          "disk-limit",
          "distinct-uid",
          "measured",
          "memory-limit",
          "pids-limit",
          "tmp-noexec");

  public SandboxRules {
    waived = List.copyOf(waived);
  }

  static SandboxRules read(Section section) {
    List<String> waived = section.names("waived");
    for (String name : waived) {
      section.require("waived", WAIVABLE.contains(name), "\"" + name + "\" is none of " + WAIVABLE);
    }
    section.end();
    return new SandboxRules(waived);
  }

  JsonValue.Obj toJson() {
    return JsonValue.object().putList("waived", waived, JsonValue::of).build();
  }
}
