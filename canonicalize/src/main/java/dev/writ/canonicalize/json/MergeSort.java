package dev.writ.canonicalize.json;

import java.util.function.IntBinaryOperator;

/**
 * A stable sort of ints by a comparison, without boxing, O(n log n) whatever the input: members are
 * sorted by their index.
 */
final class MergeSort {
  private static final int RUN = 16;

  private MergeSort() {}

  /** The ints {@code from} to {@code to}, exclusively, in the order of the comparison. */
  static int[] range(int from, int to, IntBinaryOperator compare) {
    int[] order = new int[to - from];
    for (int i = 0; i < order.length; i++) {
      order[i] = from + i;
    }
    for (int start = 0; start < order.length; start += RUN) {
      insertion(order, start, Math.min(start + RUN, order.length), compare);
    }
    int[] spare = order.length > RUN ? new int[order.length] : order;
    for (long width = RUN; width < order.length; width *= 2) {
      for (long start = 0; start < order.length; start += 2 * width) {
        int middle = (int) Math.min(start + width, order.length);
        int end = (int) Math.min(start + 2 * width, order.length);
        merge(order, spare, (int) start, middle, end, compare);
      }
      int[] sorted = spare;
      spare = order;
      order = sorted;
    }
    return order;
  }

  private static void insertion(int[] order, int start, int end, IntBinaryOperator compare) {
    for (int i = start + 1; i < end; i++) {
      int moved = order[i];
      int j = i;
      for (; j > start && compare.applyAsInt(order[j - 1], moved) > 0; j--) {
        order[j] = order[j - 1];
      }
      order[j] = moved;
    }
  }

  private static void merge(
      int[] from, int[] to, int start, int middle, int end, IntBinaryOperator compare) {
    if (middle == end || compare.applyAsInt(from[middle - 1], from[middle]) <= 0) {
      System.arraycopy(from, start, to, start, end - start);
      return;
    }
    int left = start;
    int right = middle;
    for (int i = start; i < end; i++) {
      boolean takeLeft =
          right == end || left < middle && compare.applyAsInt(from[left], from[right]) <= 0;
      to[i] = from[takeLeft ? left++ : right++];
    }
  }
}
