package dev.writ.verify.bundle;

import java.util.Arrays;

/**
 * Increasing offsets in a file, in four bytes each: the lower half of each, and where the upper
 * half changes, which is once in 4 GiB. Not thread safe while offsets are added.
 */
final class CompactOffsets {
  private static final int HALF_BITS = 32;

  private final PagedInts lower = new PagedInts();

  /** The first offset whose upper half is 1 or more, is 2 or more, and so on. */
  private int[] firsts = {};

  void add(long offset) {
    int upper = (int) (offset >>> HALF_BITS);
    if (upper > firsts.length) {
      int before = firsts.length;
      firsts = Arrays.copyOf(firsts, upper);
      Arrays.fill(firsts, before, upper, lower.size());
    }
    lower.add((int) offset);
  }

  int size() {
    return lower.size();
  }

  long get(int i) {
    int upper = firsts.length;
    while (upper > 0 && firsts[upper - 1] > i) {
      upper--;
    }
    return (long) upper << HALF_BITS | Integer.toUnsignedLong(lower.get(i));
  }
}
