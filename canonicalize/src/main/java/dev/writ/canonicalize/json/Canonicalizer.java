package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;

/**
 * Writes the canonical form of a text while it is scanned, without a tree. Stretches of the text
 * that are canonical are copied as they are; a text that is canonical throughout is not copied but
 * once, at the end.
 *
 * <p>Members are written in the order in which they come. Only where that is not the canonical
 * order, a {@link Reordering} remembers where they belong, and puts all of them in place at the end
 * in one go, so that nesting such objects costs no more than writing them side by side.
 */
final class Canonicalizer extends JsonScanner {
  /** What is kept of each member of an open object: see the constants behind. */
  private static final int MEMBER = 4;

  /** Its key's place in the text; where it has escapes, ~place in {@link #keys}. */
  private static final int KEY_START = 0;

  private static final int KEY_END = 1;
  private static final int IN_TEXT = 2;
  private static final int IN_OUTPUT = 3;

  /** What is kept of each open object: its first member, its place, whether it is out of order. */
  private static final int FRAME = 3;

  private final ByteSink out;
  private final IntStack members = new IntStack(16 * MEMBER);
  private final IntStack frames = new IntStack(8 * FRAME);
  private ByteSink keys;
  private Reordering reordering;

  /** The text from here on is not written yet: it is canonical so far. */
  private int runStart;

  Canonicalizer(byte[] in, Limits limits) {
    super(in, limits);
    this.out = new ByteSink(limits.bytesMax());
  }

  byte[] canonicalize() {
    scan();
    if (runStart == 0 && reordering == null) {
      return in.clone();
    }
    flush(in.length);
    byte[] written = out.toBytes();
    return reordering == null ? written : reordering.apply(written);
  }

  /** Writes the canonical stretch before {@code end}. */
  private void flush(int end) {
    if (out.length() == 0) {
      out.room(in.length); // most texts shrink
    }
    out.put(in, runStart, end);
  }

  /** Where in the output the byte at {@code at} of the present stretch will stand. */
  private int placeOf(int at) {
    return out.length() + at - runStart;
  }

  @Override
  void space(int start, int end) {
    flush(start);
    runStart = end;
  }

  @Override
  void openObject(int start) {
    frames.push(members.size());
    frames.push(placeOf(start));
    frames.push(0);
  }

  @Override
  void closeObject(int at) {
    boolean outOfOrder = frames.pop() != 0;
    int start = frames.pop();
    int first = frames.pop();
    if (outOfOrder) {
      reorder(start, placeOf(at), first / MEMBER);
    }
    members.cut(first);
  }

  @Override
  void openArray() {}

  @Override
  void closeArray() {}

  @Override
  void key(int start, int end, boolean escaped, boolean canonical) {
    int place = placeOf(start - 1);
    if (escaped) {
      if (keys == null) {
        keys = new ByteSink(ByteSink.MAX);
      }
      members.push(~keys.length());
      Escapes.resolve(in, start, end, false, keys);
      members.push(keys.length());
    } else {
      members.push(start);
      members.push(end);
    }
    members.push(start - 1);
    members.push(place);
    int member = members.size() / MEMBER - 1;
    int top = frames.size() - FRAME;
    if (member * MEMBER > frames.get(top) && compare(member - 1, member) >= 0) {
      frames.set(top + 2, 1);
    }
    string(start, end, escaped, canonical);
  }

  @Override
  void string(int start, int end, boolean escaped, boolean canonical) {
    if (!canonical) {
      flush(start);
      Escapes.resolve(in, start, end, true, out);
      runStart = end;
    }
  }

  @Override
  void integer(int start, int end, long value) {}

  @Override
  void number(int start, int end, Decimal value) {
    flush(start);
    byte[] to = out.room(EcmaNumbers.LENGTH_MAX);
    out.advance(value.write(to, out.length()));
    runStart = end;
  }

  @Override
  void literal(JsonValue value) {}

  private int compare(int a, int b) {
    int aStart = members.get(a * MEMBER + KEY_START);
    int bStart = members.get(b * MEMBER + KEY_START);
    return KeyOrder.compare(
        aStart < 0 ? keys.array() : in,
        aStart < 0 ? ~aStart : aStart,
        members.get(a * MEMBER + KEY_END),
        bStart < 0 ? keys.array() : in,
        bStart < 0 ? ~bStart : bStart,
        members.get(b * MEMBER + KEY_END));
  }

  private void reorder(int start, int end, int first) {
    int past = members.size() / MEMBER;
    int[] order = MergeSort.range(first, past, this::compare);
    int duplicate = Integer.MAX_VALUE;
    for (int i = 1; i < order.length; i++) {
      if (compare(order[i - 1], order[i]) == 0) {
        duplicate = Math.min(duplicate, members.get(order[i] * MEMBER + IN_TEXT));
      }
    }
    if (duplicate != Integer.MAX_VALUE) {
      throw refuse(CanonicalizeError.DUPLICATE_KEY, duplicate);
    }
    if (reordering == null) {
      reordering = new Reordering();
    }
    reordering.beginObject(start, end, order.length);
    for (int member : order) {
      int next = member + 1;
      reordering.member(
          members.get(member * MEMBER + IN_OUTPUT),
          next < past ? members.get(next * MEMBER + IN_OUTPUT) - 1 : end);
    }
  }
}
