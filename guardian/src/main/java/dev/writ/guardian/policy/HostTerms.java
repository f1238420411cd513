package dev.writ.guardian.policy;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A policy's terms for the hosts that effects run on, as drivers get them.
 *
 * @param waived names of guarantees that policy waives on hosts that lack them
 * @param images the image in which a program runs, by the program's name
 */
public record HostTerms(List<String> waived, SortedMap<String, String> images) {
  /** For a policy without terms. */
  public static final HostTerms NONE = new HostTerms(List.of(), new TreeMap<>());

  public HostTerms {
    waived = List.copyOf(waived);
    images = Collections.unmodifiableSortedMap(new TreeMap<>(images));
  }
}
