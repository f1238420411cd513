package dev.writ.canonicalize.json;

/**
 * Writes the canonical form of a text while it is scanned, without a tree. Stretches of the text
 * that are canonical are copied as they are; a text that is canonical throughout is not copied but
 * once, at the end.
 *
 * <p>Members are written in the order in which they come. Where that is not the canonical order, a
 * small object is put in order when it closes. For a large one a {@link Reordering} remembers where
 * its members belong, and moves all such members at the end in one go, so that nesting such objects
 * costs no more than writing them side by side.
 */
final class Canonicalizer extends JsonScanner {
  /**
   * Bytes of an object that counts as small. An object out of order takes at least 12 bytes for
   * each level, so a byte is moved in at most 1/12 as many small objects as this.
   */
  private static final int SMALL = 1024;

  /** Entries for each open object: its first member, its place, whether it is out of order. */
  private static final int FRAME = 3;

  private final ByteSink out;
  private final OpenMembers members;
  private final IntStack frames = new IntStack(8 * FRAME);
  private byte[] scratch;
  private Reordering reordering;

  /** The text from here on is not written yet: it is canonical so far. */
  private int runStart;

  Canonicalizer(byte[] in, Limits limits) {
    super(in, limits);
    this.out = new ByteSink(limits.bytesMax());
    this.members = new OpenMembers(in);
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
      int[] order = members.order(first);
      int end = placeOf(at);
      if (end - start <= SMALL) {
        flush(at);
        runStart = at;
        reorderNow(order, start + 1, end);
      } else {
        reorderLater(order, start, end);
      }
    }
    members.cut(first);
  }

  /** Puts the members of an object in order, which stand in the output from {@code start} on. */
  private void reorderNow(int[] order, int start, int end) {
    if (scratch == null) {
      scratch = new byte[SMALL];
    }
    byte[] to = out.array();
    System.arraycopy(to, start, scratch, 0, end - start);
    int at = start;
    for (int member : order) {
      int from = members.place(member);
      int length = members.endPlace(member, end) - from;
      System.arraycopy(scratch, from - start, to, at, length);
      at += length;
      if (at < end) {
        to[at++] = ',';
      }
    }
  }

  private void reorderLater(int[] order, int start, int end) {
    if (reordering == null) {
      reordering = new Reordering();
    }
    reordering.beginObject(start, end, order.length);
    for (int member : order) {
      reordering.member(members.place(member), members.endPlace(member, end));
    }
  }

  @Override
  void openArray() {}

  @Override
  void closeArray() {}

  @Override
  void key(int start, int end, boolean escaped, boolean canonical) {
    members.add(start, end, escaped, placeOf(start - 1));
    int top = frames.size() - FRAME;
    if (members.size() - 1 > frames.get(top) && !members.lastAscends()) {
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
}
