package dev.writ.canonicalize;

import java.util.Comparator;
import java.util.function.Function;

/**
 * Comparators like those of {@link Comparator}, which can be serialized. The JDK's AOT cache holds
 * no such code, so that the first one of a process takes it 3 ms and each further one 0.3: for what
 * a short command runs.
 */
public final class Comparing {
  private Comparing() {}

  /** By a key. */
  public static <T, K extends Comparable<? super K>> Comparator<T> by(Function<T, K> key) {
    return (a, b) -> key.apply(a).compareTo(key.apply(b));
  }

  /** By the second order where the first finds two equal. */
  public static <T> Comparator<T> by(Comparator<T> first, Comparator<T> second) {
    return (a, b) -> {
      int order = first.compare(a, b);
      return order == 0 ? second.compare(a, b) : order;
    };
  }
}
