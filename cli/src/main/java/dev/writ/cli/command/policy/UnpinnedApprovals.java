package dev.writ.cli.command.policy;

import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.rule.Rule;
import java.util.ArrayList;
import java.util.List;

/**
 * Warnings on approvals of effects in a run's workspace. What is approved has to pin the files that
 * it was approved for, and most callers cannot: each of their calls is denied, once an approver has
 * been asked for nothing.
 */
final class UnpinnedApprovals {
  private UnpinnedApprovals() {}

  /**
   * @param registered the manifests of the data directory; of a tool that is not among them nothing
   *     is said
   */
  static List<String> of(Policy policy, List<ToolManifest> registered) {
    List<String> warnings = new ArrayList<>();
    for (int i = 0; i < policy.rules().size() && !policy.observes(); i++) {
      Rule rule = policy.rules().get(i);
      String tool = rule.effect().tool();
      if (rule.require().asksApprovals() && usesWorkspace(policy, registered, tool)) {
        warnings.add(
            "requirement "
                + (i + 1)
                + " ("
                + rule.effect()
                + "): it asks for approvals, and "
                + tool
                + " works in its run's workspace, so each call that pins no workspace_before is"
                + " denied (GRD-411), also one that needs no approval. Calls over MCP and of the"
                + " seeds cannot pin it; writ run --pin-workspace does"
                + (tool.equals("exec") ? ", and exec_ephemeral needs none" : ""));
      }
    }
    return warnings;
  }

  private static boolean usesWorkspace(Policy policy, List<ToolManifest> registered, String tool) {
    return registered.stream()
        .filter(manifest -> manifest.name().equals(tool))
        .filter(manifest -> manifest.capabilities().workspace())
        .anyMatch(manifest -> policy.tool(tool, manifest.version()).isPresent());
  }
}
