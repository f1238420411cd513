package dev.writ.canonicalize.json;

import java.util.Arrays;

/**
 * Which objects of an output have members out of order, and the order in which they belong. Every
 * byte is moved once, however deep it stands.
 */
final class Reordering {
  /** For each object: its place, its end, its first member in {@link #members}, and their count. */
  private static final int OBJECT = 4;

  private final IntStack objects = new IntStack(8 * OBJECT);

  /** The start and end of each member, in canonical order. */
  private final IntStack members = new IntStack(64);

  /**
   * Adds an object from its opening to its closing brace; its members follow in canonical order.
   */
  void beginObject(int start, int end, int count) {
    objects.push(start);
    objects.push(end);
    objects.push(members.size());
    objects.push(count);
  }

  void member(int start, int end) {
    members.push(start);
    members.push(end);
  }

  /** The same bytes with all members in place. */
  byte[] apply(byte[] from) {
    long[] byStart = byStart();
    byte[] to = new byte[from.length];
    int length = 0;
    int at = 0;
    int end = from.length;
    // The enclosing stretches: object, member in it, end of the stretch around it.
    IntStack outer = new IntStack(48);
    while (true) {
      int next = firstFrom(byStart, at);
      if (next < byStart.length && (int) (byStart[next] >>> 32) < end) {
        int object = (int) byStart[next];
        int open = objects.get(object) + 1;
        System.arraycopy(from, at, to, length, open - at);
        length += open - at;
        outer.push(object);
        outer.push(0);
        outer.push(end);
        int member = objects.get(object + 2);
        at = members.get(member);
        end = members.get(member + 1);
        continue;
      }
      System.arraycopy(from, at, to, length, end - at);
      length += end - at;
      if (outer.size() == 0) {
        return to;
      }
      int top = outer.size() - 3;
      int object = outer.get(top);
      int place = outer.get(top + 1) + 1;
      if (place < objects.get(object + 3)) {
        outer.set(top + 1, place);
        to[length++] = ',';
        int member = objects.get(object + 2) + 2 * place;
        at = members.get(member);
        end = members.get(member + 1);
      } else {
        at = objects.get(object + 1);
        end = outer.pop();
        outer.cut(top);
      }
    }
  }

  /** The objects in the order of their places: place in the upper half, index in the lower. */
  private long[] byStart() {
    long[] sorted = new long[objects.size() / OBJECT];
    for (int i = 0; i < sorted.length; i++) {
      sorted[i] = (long) objects.get(i * OBJECT) << 32 | i * OBJECT;
    }
    Arrays.sort(sorted);
    return sorted;
  }

  private static int firstFrom(long[] byStart, int at) {
    int found = Arrays.binarySearch(byStart, (long) at << 32);
    return found < 0 ? -found - 1 : found;
  }
}
