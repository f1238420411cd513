package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import java.util.Arrays;

/** The members of all open objects so far, by index; those of the innermost object come last. */
final class OpenMembers {
  /** For each: where its key stands, and the member's places in the text and in the output. */
  private static final int MEMBER = 4;

  /** The key's start in the text; where it has escapes, ~start in {@link #resolved}. */
  private static final int KEY_START = 0;

  private static final int KEY_END = 1;
  private static final int IN_TEXT = 2;
  private static final int IN_OUTPUT = 3;

  private final byte[] in;
  private int[] members = new int[16 * MEMBER];
  private long[] prefixes = new long[16];
  private int size;

  /** The keys that had escapes, without them. */
  private ByteSink resolved;

  OpenMembers(byte[] in) {
    this.in = in;
  }

  int size() {
    return size;
  }

  void cut(int newSize) {
    size = newSize;
  }

  /** Adds the member whose key is at {@code start}, and which will stand at {@code place}. */
  void add(int start, int end, boolean escaped, int place) {
    if (size == prefixes.length) {
      prefixes = Arrays.copyOf(prefixes, 2 * size);
      members = Arrays.copyOf(members, 2 * size * MEMBER);
    }
    int at = size * MEMBER;
    if (escaped) {
      if (resolved == null) {
        resolved = new ByteSink(ByteSink.MAX);
      }
      int keyStart = resolved.length();
      Escapes.resolve(in, start, end, false, resolved);
      members[at + KEY_START] = ~keyStart;
      members[at + KEY_END] = resolved.length();
      prefixes[size] = KeyOrder.prefix(resolved.array(), keyStart, resolved.length());
    } else {
      members[at + KEY_START] = start;
      members[at + KEY_END] = end;
      prefixes[size] = KeyOrder.prefix(in, start, end);
    }
    members[at + IN_TEXT] = start - 1;
    members[at + IN_OUTPUT] = place;
    size++;
  }

  /** Where a member begins in the output. */
  int place(int member) {
    return members[member * MEMBER + IN_OUTPUT];
  }

  /** Where a member ends in the output: before the comma of the next one, or its object's end. */
  int endPlace(int member, int objectEnd) {
    int next = member + 1;
    return next < size ? members[next * MEMBER + IN_OUTPUT] - 1 : objectEnd;
  }

  /** Whether the last member's key comes after the one's before. */
  boolean lastAscends() {
    return compare(size - 2, size - 1) < 0;
  }

  /**
   * The members from {@code first} on in canonical order.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-004} at the first key in the text that
   *     was there before
   */
  int[] order(int first) {
    int[] order = MergeSort.range(first, size, this::compare);
    int duplicate = Integer.MAX_VALUE;
    for (int i = 1; i < order.length; i++) {
      if (compare(order[i - 1], order[i]) == 0) {
        duplicate = Math.min(duplicate, members[order[i] * MEMBER + IN_TEXT]);
      }
    }
    if (duplicate != Integer.MAX_VALUE) {
      throw JsonScanner.refuse(CanonicalizeError.DUPLICATE_KEY, duplicate);
    }
    return order;
  }

  private int compare(int a, int b) {
    int byPrefix = Long.compareUnsigned(prefixes[a], prefixes[b]);
    if (byPrefix != 0) {
      return byPrefix;
    }
    int aStart = members[a * MEMBER + KEY_START];
    int bStart = members[b * MEMBER + KEY_START];
    return KeyOrder.compare(
        aStart < 0 ? resolved.array() : in,
        aStart < 0 ? ~aStart : aStart,
        members[a * MEMBER + KEY_END],
        bStart < 0 ? resolved.array() : in,
        bStart < 0 ? ~bStart : bStart,
        members[b * MEMBER + KEY_END]);
  }
}
