package dev.writ.cli.command.policy;

import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Role;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.rule.EffectPattern;
import dev.writ.guardian.policy.rule.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Warnings on operations that a policy names and its tools do not have. Policy alone does not know
 * them, so a name that is mistyped is no fault of it: a requirement with such a name covers
 * nothing, and the next one that is about the tool decides in its place.
 */
final class UnknownOperations {
  private final Policy policy;
  private final Map<ToolRef, ToolManifest> registered;
  private final List<String> warnings = new ArrayList<>();

  private UnknownOperations(Policy policy, List<ToolManifest> registered) {
    this.policy = policy;
    this.registered =
        registered.stream()
            .collect(Collectors.toMap(ToolManifest::ref, Function.identity(), (one, _) -> one));
  }

  /**
   * @param registered the manifests of the data directory
   */
  static List<String> of(Policy policy, List<ToolManifest> registered) {
    UnknownOperations unknown = new UnknownOperations(policy, registered);
    for (int i = 0; i < policy.rules().size(); i++) {
      unknown.warn(
          "requirement " + (i + 1), policy.rules().get(i).effect(), "so it covers no effect");
    }
    for (Order order : policy.orders()) {
      unknown.warn("temporal/order", order.effect(), "so it orders nothing");
      unknown.warn("temporal/order", order.after(), "so what comes after it never may");
    }
    for (Role role : policy.roles().values()) {
      for (String tool : role.tools()) {
        unknown.warn("roles/" + role.name(), pattern(tool), "so it allows nothing");
      }
    }
    return unknown.warnings;
  }

  private static EffectPattern pattern(String tool) {
    int slash = tool.indexOf('/');
    return slash < 0
        ? new EffectPattern(tool, Optional.empty())
        : new EffectPattern(tool.substring(0, slash), Optional.of(tool.substring(slash + 1)));
  }

  private void warn(String place, EffectPattern effect, String consequence) {
    SortedSet<String> known = operations(effect.tool());
    effect
        .operation()
        .filter(operation -> !known.isEmpty() && !known.contains(operation))
        .map(operation ->
            place
                + " ("
                + effect
                + "): "
                + effect.tool()
                + " has no operation "
                + operation
                + ", "
                + consequence
                + "; it has "
                + String.join(", ", known))
        .ifPresent(warnings::add);
  }

  /** Of all approved versions; empty where not all of them are known. */
  private SortedSet<String> operations(String tool) {
    List<ToolRef> approved =
        policy.tools().stream()
            .map(ApprovedTool::ref)
            .filter(ref -> ref.name().equals(tool))
            .toList();
    return registered.keySet().containsAll(approved)
        ? approved.stream()
            .flatMap(ref -> registered.get(ref).operations().stream())
            .map(ToolManifest.Operation::name)
            .collect(Collectors.toCollection(TreeSet::new))
        : new TreeSet<>();
  }
}
