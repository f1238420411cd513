package dev.writ.guardian.policy;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a policy says of the hosts that effects run on, as a driver is given it.
 *
 * @param waived names of guarantees that it does without where a host does not hold them
 * @param images the image in which a program runs, by the program's name
 */
public record HostTerms(List<String> waived, SortedMap<String, String> images) {
  /** Of a policy that says nothing. */
  public static final HostTerms NONE = new HostTerms(List.of(), new TreeMap<>());

  public HostTerms {
    waived = List.copyOf(waived);
    images = Collections.unmodifiableSortedMap(new TreeMap<>(images));
  }
}
