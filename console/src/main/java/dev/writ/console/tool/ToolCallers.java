package dev.writ.console.tool;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Principal;
import dev.writ.guardian.policy.Role;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Whom of one tenant policy lets call a tool. On each call the Guardian decides. */
final class ToolCallers {
  private static final int SHOWN_MAX = 500;

  private ToolCallers() {}

  /**
   * @return {@code subjects}, each with its roles that have an operation of the tool; {@code more}
   *     where there are more of them than are listed
   */
  static JsonValue.Obj of(
      Policy policy, String tenant, ToolManifest manifest, Optional<ApprovedTool> approved) {
    List<JsonValue> subjects = new ArrayList<>();
    long more = 0;
    for (Principal principal : policy.principals()) {
      Optional<JsonValue> one =
          principal.tenant().equals(tenant)
              ? caller(policy, principal, manifest, approved)
              : Optional.empty();
      if (one.isPresent() && subjects.size() == SHOWN_MAX) {
        more++;
      } else {
        one.ifPresent(subjects::add);
      }
    }
    return JsonValue.object()
        .put("observed", policy.observes())
        .put("subjects", JsonValue.of(subjects))
        .put("more", more)
        .build();
  }

  private static Optional<JsonValue> caller(
      Policy policy, Principal principal, ToolManifest manifest, Optional<ApprovedTool> approved) {
    TreeSet<String> operations = new TreeSet<>();
    List<String> roles = new ArrayList<>();
    for (String name : principal.roles()) {
      List<String> usable = operations(policy.roles().get(name), manifest);
      if (!usable.isEmpty()) {
        roles.add(name);
        operations.addAll(usable);
      }
    }
    if (roles.isEmpty()) {
      return Optional.empty();
    }
    CanaryDraw draw = new CanaryDraw(principal.tenant(), "", principal.subject());
    return Optional.of(
        JsonValue.object()
            .put("subject", principal.subject())
            .putList("roles", roles, JsonValue::of)
            .putList("operations", List.copyOf(operations), JsonValue::of)
            .put("runs", approved.filter(tool -> policy.mayRun(tool, draw)).isPresent())
            .build());
  }

  private static List<String> operations(Role role, ToolManifest manifest) {
    if (role == null || manifest.sandboxes().stream().noneMatch(role.sandboxes()::contains)) {
      return List.of();
    }
    return manifest.operations().stream()
        .map(ToolManifest.Operation::name)
        .filter(operation -> role.mayUse(manifest.name(), operation))
        .toList();
  }
}
