package dev.writ.tools.author;

import dev.writ.guardian.policy.governance.CapabilityCeiling;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;

/** Compares the capabilities of a package with the ceiling in the policy's governance. */
public final class CapabilityCheck {
  private CapabilityCheck() {}

  /** Everything above the ceiling; empty if all is within it. */
  public static List<LintFinding> check(ToolSource source, CapabilityCeiling ceiling) {
    List<LintFinding> findings = new ArrayList<>();
    if (!ceiling.languages().contains(source.language().text())) {
      above(findings, "language " + source.language().text(), ceiling.languages().toString());
    }
    if (source.workspace() && !ceiling.workspace()) {
      above(findings, "filesystem workspace", "none");
    }
    for (String place : source.network()) {
      if (NetworkPlace.parse(place).filter(p -> p.isCovered(ceiling.network())).isEmpty()) {
        above(findings, "network " + place, ceiling.network().toString());
      }
    }
    if (source.spawn() && !ceiling.spawn()) {
      above(findings, "spawn true", "false");
    }
    source.secrets().stream()
        .filter(name -> !ceiling.secrets().contains(name))
        .forEach(name -> above(findings, "the secret " + name, ceiling.secrets().toString()));
    if (!ceiling.allowsClass(source.resourceClass().text())) {
      above(findings, "resource_class " + source.resourceClass().text(), ceiling.resourceClass());
    }
    return List.copyOf(findings);
  }

  private static void above(List<LintFinding> findings, String asked, String most) {
    findings.add(
        new LintFinding(
            ToolsError.CAPABILITY_ABOVE_POLICY,
            ToolSource.FILE,
            asked + ", policy's governance allows " + most));
  }
}
