package dev.writ.canonicalize.json;

import java.util.Arrays;

/** A growing stack of ints. */
final class IntStack {
  private int[] items;
  private int size;

  IntStack(int capacity) {
    items = new int[capacity];
  }

  int size() {
    return size;
  }

  int get(int i) {
    return items[i];
  }

  void set(int i, int item) {
    items[i] = item;
  }

  void push(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, 2 * size);
    }
    items[size++] = item;
  }

  int pop() {
    return items[--size];
  }

  /** Cuts the stack down to so many items. */
  void cut(int newSize) {
    size = newSize;
  }
}
