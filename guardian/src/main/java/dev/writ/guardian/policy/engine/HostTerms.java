package dev.writ.guardian.policy.engine;

import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.seed.CommandLimits;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A policy's terms for the hosts that effects run on, as drivers get them.
 *
 * @param waived names of guarantees that policy waives on hosts that lack them
 * @param images the image in which a program runs, by the program's name
 * @param commands limits of commands; absent where policy has no commands
 * @param classes the resource classes
 * @param workspaces the directory below the host's WORKSPACE_ROOT that each tenant has; absent
 *     where there is one tenant, which has all of it
 */
public record HostTerms(
    List<String> waived,
    SortedMap<String, String> images,
    Optional<CommandLimits> commands,
    ResourceClasses classes,
    Optional<SortedMap<String, String>> workspaces) {
  /** For a policy without terms. */
  public static final HostTerms NONE =
      new HostTerms(List.of(), new TreeMap<>(), Optional.empty(), ResourceClasses.DEFAULT);

  /** For a policy with one tenant. */
  public HostTerms(
      List<String> waived,
      SortedMap<String, String> images,
      Optional<CommandLimits> commands,
      ResourceClasses classes) {
    this(waived, images, commands, classes, Optional.empty());
  }

  public HostTerms {
    waived = List.copyOf(waived);
    images = Collections.unmodifiableSortedMap(new TreeMap<>(images));
    workspaces = workspaces.map(TreeMap::new).map(Collections::unmodifiableSortedMap);
  }

  /**
   * The directory below the host's WORKSPACE_ROOT that a tenant's commands may have: {@code .} for
   * all of it, empty for none.
   */
  public Optional<String> workspaceOf(String tenant) {
    return workspaces.isEmpty()
        ? Optional.of(".")
        : Optional.ofNullable(workspaces.get().get(tenant));
  }

  /** The limits of a call that declares these resources. */
  public CallLimits limitsFor(Resources declared) {
    return classes.limitsFor(declared);
  }
}
