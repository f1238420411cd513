package dev.writ.guardian;

import java.util.Arrays;

/**
 * What one account of a budget holds in each window: the present one, and for a moment after its
 * end the one before. Not thread safe.
 */
final class WindowSums {
  /** For each window: its start in seconds, used, reserved. */
  private static final int WINDOW = 3;

  private static final int USED = 1;
  private static final int RESERVED = 2;

  private long[] windows = new long[WINDOW];
  private int length;

  /**
   * Adds to a window's sums.
   *
   * @return whether the window was not there before
   */
  boolean add(long startS, long used, long reserved) {
    int at = find(startS);
    boolean isNew = at == length;
    if (isNew) {
      if (length == windows.length) {
        windows = Arrays.copyOf(windows, length + WINDOW);
      }
      windows[at] = startS;
      windows[at + USED] = 0;
      windows[at + RESERVED] = 0;
      length += WINDOW;
    }
    windows[at + USED] += used;
    windows[at + RESERVED] += reserved;
    return isNew;
  }

  long used(long startS) {
    int at = find(startS);
    return at == length ? 0 : windows[at + USED];
  }

  long reserved(long startS) {
    int at = find(startS);
    return at == length ? 0 : windows[at + RESERVED];
  }

  /** Forgets a window. */
  void end(long startS) {
    int at = find(startS);
    if (at < length) {
      length -= WINDOW;
      System.arraycopy(windows, length, windows, at, WINDOW);
    }
  }

  /**
   * Forgets a window that holds nothing.
   *
   * @return whether no window is left
   */
  boolean endIfZero(long startS) {
    if (used(startS) == 0 && reserved(startS) == 0) {
      end(startS);
    }
    return isEmpty();
  }

  /** Takes what a window holds. */
  @FunctionalInterface
  interface Visitor {
    void window(long startS, long used, long reserved);
  }

  void forEach(Visitor visitor) {
    for (int at = 0; at < length; at += WINDOW) {
      visitor.window(windows[at], windows[at + USED], windows[at + RESERVED]);
    }
  }

  boolean isEmpty() {
    return length == 0;
  }

  /** Where a window is, or the length; there are one or two. */
  private int find(long startS) {
    int at = 0;
    while (at < length && windows[at] != startS) {
      at += WINDOW;
    }
    return at;
  }
}
