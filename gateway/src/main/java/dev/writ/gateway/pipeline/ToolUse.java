package dev.writ.gateway.pipeline;

import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Role;
import java.util.List;
import java.util.Optional;

/**
 * The bounds within which a caller may use an operation, by policy's roles. The Guardian decides on
 * each call.
 *
 * @param sandbox the first profile that both the tool and the role have
 * @param most the most resources that both tool and role allow
 * @param declared what is declared for a caller who states no resources, within {@code most}
 */
public record ToolUse(String sandbox, Resources most, Resources declared) {

  /**
   * Empty if none of its roles has both the operation and a sandbox profile of the tool, unless
   * policy only observes: then it is what the tool itself has.
   */
  public static Optional<ToolUse> of(
      Policy policy, Caller caller, ToolManifest manifest, String operation) {
    for (String name : roles(policy, caller)) {
      Role role = policy.roles().get(name);
      if (role == null || !role.mayUse(manifest.name(), operation)) {
        continue;
      }
      Optional<String> sandbox =
          manifest.sandboxes().stream().filter(role.sandboxes()::contains).findFirst();
      if (sandbox.isPresent()) {
        return Optional.of(
            new ToolUse(
                sandbox.get(),
                least(manifest.resourcesMax(), role.resources()),
                least(manifest.resourcesMax(), role.declared().orElse(role.resources()))));
      }
    }
    return policy.observes()
        ? manifest.sandboxes().stream()
            .findFirst()
            .map(first -> new ToolUse(first, manifest.resourcesMax(), manifest.resourcesMax()))
        : Optional.empty();
  }

  /** The subject's roles; a credential may be narrowed to some of them, a key has them all. */
  private static List<String> roles(Policy policy, Caller caller) {
    List<String> held = policy.rolesOf(caller.tenant(), caller.subject());
    return caller.roles().isEmpty()
        ? held
        : held.stream().filter(caller.roles()::contains).toList();
  }

  /** The smaller of each. */
  public static Resources least(Resources a, Resources b) {
    return new Resources(
        Math.min(a.cpuMs(), b.cpuMs()),
        Math.min(a.memoryBytes(), b.memoryBytes()),
        Math.min(a.outputBytes(), b.outputBytes()),
        Math.min(a.wallMs(), b.wallMs()));
  }
}
