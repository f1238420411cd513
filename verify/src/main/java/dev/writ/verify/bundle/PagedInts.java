package dev.writ.verify.bundle;

import java.util.ArrayList;
import java.util.List;

/** Numbers that are added one by one, in pages, so that nothing is copied when they are many. */
final class PagedInts {
  private static final int PAGE = 1 << 12;

  private final List<int[]> pages = new ArrayList<>();
  private int size;

  void add(int number) {
    if (size % PAGE == 0) {
      pages.add(new int[PAGE]);
    }
    pages.getLast()[size++ % PAGE] = number;
  }

  int size() {
    return size;
  }

  int get(int i) {
    return pages.get(i / PAGE)[i % PAGE];
  }
}
