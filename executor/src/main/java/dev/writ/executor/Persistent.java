package dev.writ.executor;

import java.util.SortedMap;
import java.util.SortedSet;
import org.pcollections.PSortedMap;
import org.pcollections.PSortedSet;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * Collections of which a changed copy shares all but a path with the one before. The state of an
 * installation changes one document at a time, and has as many entries as the installation has had
 * keys, tenants and erasures: copied whole, adding it up would take the square of them.
 */
final class Persistent {
  private Persistent() {}

  /** The same entries; the map itself where it is persistent already. */
  static <K, V> PSortedMap<K, V> of(SortedMap<K, V> map) {
    return map instanceof PSortedMap<K, V> persistent ? persistent : TreePMap.fromSortedMap(map);
  }

  /** The same elements; the set itself where it is persistent already. */
  static <E> PSortedSet<E> of(SortedSet<E> set) {
    return set instanceof PSortedSet<E> persistent ? persistent : TreePSet.fromSortedSet(set);
  }
}
