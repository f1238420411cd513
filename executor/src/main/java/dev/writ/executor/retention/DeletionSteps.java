package dev.writ.executor.retention;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/** What is deleted together: so much that statements and rows fit into one write. */
final class DeletionSteps {
  /** How many places that name contents one write states, at most, but for a single content. */
  private static final int NAMED_MAX = 8_192;

  private DeletionSteps() {}

  /**
   * Cuts a list into steps, in its order.
   *
   * @param contentsMax how many contents are removed in one write
   * @param named how many places name a content
   */
  static <T> List<List<T>> of(List<T> all, int contentsMax, ToIntFunction<T> named) {
    List<List<T>> steps = new ArrayList<>();
    int from = 0;
    int sum = 0;
    for (int i = 0; i < all.size(); i++) {
      int more = named.applyAsInt(all.get(i));
      if (i > from && (i - from == contentsMax || sum + more > NAMED_MAX)) {
        steps.add(all.subList(from, i));
        from = i;
        sum = 0;
      }
      sum += more;
    }
    if (from < all.size()) {
      steps.add(all.subList(from, all.size()));
    }
    return steps;
  }
}
