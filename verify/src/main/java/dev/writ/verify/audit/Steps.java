package dev.writ.verify.audit;

import java.util.Map;
import java.util.TreeMap;

/** A set of step numbers, kept as ranges, since they are dense and arrive almost in order. */
final class Steps {
  private final TreeMap<Long, Long> lastByFirst = new TreeMap<>();

  /** Adds a step; false if it was there already. */
  boolean add(long step) {
    Map.Entry<Long, Long> below = lastByFirst.floorEntry(step);
    if (below != null && step <= below.getValue()) {
      return false;
    }
    long first = step;
    long last = step;
    if (below != null && below.getValue() == step - 1) {
      first = below.getKey();
    }
    Long above = lastByFirst.remove(step + 1);
    if (above != null) {
      last = above;
    }
    lastByFirst.put(first, last);
    return true;
  }

  /** The least step of the set that is {@code from} or more; -1 where there is none. */
  long next(long from) {
    Map.Entry<Long, Long> below = lastByFirst.floorEntry(from);
    if (below != null && from <= below.getValue()) {
      return from;
    }
    Long above = lastByFirst.ceilingKey(from);
    return above == null ? -1 : above;
  }
}
