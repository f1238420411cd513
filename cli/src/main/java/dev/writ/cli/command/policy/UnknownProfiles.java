package dev.writ.cli.command.policy;

import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Warnings on sandbox profiles that a policy names and no tool has. Policy alone does not know
 * them, so one that is mistyped is no fault of it, and every call in the right one is denied.
 */
final class UnknownProfiles {
  /** Of HTTP tools and of tools in Java, which an installation need not have yet. */
  private static final List<String> OF_LATER_TOOLS = List.of("host", "http");

  private UnknownProfiles() {}

  /**
   * @param registered the manifests of the data directory; where an approved tool is not among
   *     them, its profiles are not known, and nothing is said
   */
  static List<String> of(Policy policy, List<ToolManifest> registered) {
    Set<ToolRef> refs = registered.stream().map(ToolManifest::ref).collect(Collectors.toSet());
    if (!policy.tools().stream().map(ApprovedTool::ref).allMatch(refs::contains)) {
      return List.of();
    }
    SortedSet<String> known =
        Stream.concat(
                OF_LATER_TOOLS.stream(),
                registered.stream().flatMap(manifest -> manifest.sandboxes().stream()))
            .collect(Collectors.toCollection(TreeSet::new));
    Stream<String> ofRoles =
        policy.roles().values().stream()
            .flatMap(role -> unknown("roles/" + role.name(), role.sandboxes(), known));
    Stream<String> ofCommands =
        policy.commands().stream()
            .flatMap(commands -> unknown("commands", List.of(commands.sandbox()), known));
    Stream<String> ofSeed =
        policy.execute().stream()
            .flatMap(execute -> unknown("execute", execute.sandboxes().values(), known));
    return Stream.of(ofRoles, ofCommands, ofSeed).flatMap(warnings -> warnings).toList();
  }

  private static Stream<String> unknown(
      String place, Collection<String> named, SortedSet<String> known) {
    return named.stream()
        .filter(profile -> !known.contains(profile))
        .map(profile ->
            place
                + ": no tool runs in a sandbox "
                + profile
                + ", so nothing is allowed by that name; there are "
                + String.join(", ", known));
  }
}
