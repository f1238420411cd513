package dev.writ.guardian.policy;

import dev.writ.guardian.document.Resources;
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
 */
public record HostTerms(
    List<String> waived,
    SortedMap<String, String> images,
    Optional<CommandLimits> commands,
    ResourceClasses classes) {
  /** For a policy without terms. */
  public static final HostTerms NONE =
      new HostTerms(List.of(), new TreeMap<>(), Optional.empty(), ResourceClasses.DEFAULT);

  public HostTerms {
    waived = List.copyOf(waived);
    images = Collections.unmodifiableSortedMap(new TreeMap<>(images));
  }

  /** The limits of a call that declares these resources. */
  public CallLimits limitsFor(Resources declared) {
    return classes.limitsFor(declared);
  }
}
