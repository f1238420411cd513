package dev.writ.canonicalize;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A set of digests in 64 to 128 bytes for each: open addressing over their four longs. For the many
 * digests of a long run, for which a tree of objects would take several times as much memory. Not
 * thread safe.
 */
public final class DigestSet {
  private static final int LONGS = Digest.LENGTH / Long.BYTES;

  /** Four longs for each place; all zero where it is free. */
  private long[] table = new long[LONGS << 4];

  private int size;

  /** The one digest that looks like a free place. */
  private boolean hasZero;

  /** Adds a digest; false where it was there before. */
  public boolean add(Digest digest) {
    long[] longs = longs(digest);
    if (isFree(longs, 0)) {
      boolean added = !hasZero;
      hasZero = true;
      return added;
    }
    int at = find(longs, 0);
    if (!isFree(table, at)) {
      return false;
    }
    System.arraycopy(longs, 0, table, at, LONGS);
    size++;
    if (size > table.length / LONGS / 2) {
      grow();
    }
    return true;
  }

  public boolean contains(Digest digest) {
    long[] longs = longs(digest);
    return isFree(longs, 0) ? hasZero : !isFree(table, find(longs, 0));
  }

  public int size() {
    return size + (hasZero ? 1 : 0);
  }

  /** All of them in their order; the set is not to be used after that. */
  public void drainSorted(Consumer<Digest> consumer) {
    if (hasZero) {
      consumer.accept(Digest.ofBytes(new byte[Digest.LENGTH]));
    }
    int count = 0;
    for (int at = 0; at < table.length; at += LONGS) {
      if (!isFree(table, at)) {
        System.arraycopy(table, at, table, LONGS * count++, LONGS);
      }
    }
    sort(count);
    for (int i = 0; i < count; i++) {
      ByteBuffer bytes = ByteBuffer.allocate(Digest.LENGTH);
      for (int j = 0; j < LONGS; j++) {
        bytes.putLong(table[LONGS * i + j]);
      }
      consumer.accept(Digest.ofBytes(bytes.array()));
    }
  }

  /** Heap sort: in place, and no slower for digests that an attacker chose. */
  private void sort(int count) {
    for (int i = count / 2 - 1; i >= 0; i--) {
      sink(i, count);
    }
    for (int end = count - 1; end > 0; end--) {
      swap(0, end);
      sink(0, end);
    }
  }

  private void sink(int from, int count) {
    int parent = from;
    for (int child = 2 * parent + 1; child < count; child = 2 * parent + 1) {
      if (child + 1 < count && compare(child, child + 1) < 0) {
        child++;
      }
      if (compare(parent, child) >= 0) {
        return;
      }
      swap(parent, child);
      parent = child;
    }
  }

  private int compare(int a, int b) {
    for (int j = 0; j < LONGS; j++) {
      int order = Long.compareUnsigned(table[LONGS * a + j], table[LONGS * b + j]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private void swap(int a, int b) {
    for (int j = 0; j < LONGS; j++) {
      long kept = table[LONGS * a + j];
      table[LONGS * a + j] = table[LONGS * b + j];
      table[LONGS * b + j] = kept;
    }
  }

  private void grow() {
    long[] old = table;
    table = new long[2 * old.length];
    for (int at = 0; at < old.length; at += LONGS) {
      if (!isFree(old, at)) {
        System.arraycopy(old, at, table, find(old, at), LONGS);
      }
    }
  }

  /** Where that digest is, or would be. */
  private int find(long[] digest, int from) {
    int places = table.length / LONGS;
    long mixed = (digest[from] ^ digest[from + 1]) * 0x9e3779b97f4a7c15L;
    int place = (int) (mixed >>> 32) & places - 1;
    while (!isFree(table, LONGS * place)
        && !Arrays.equals(
            table, LONGS * place, LONGS * place + LONGS, digest, from, from + LONGS)) {
      place = place + 1 & places - 1;
    }
    return LONGS * place;
  }

  private static boolean isFree(long[] longs, int at) {
    return (longs[at] | longs[at + 1] | longs[at + 2] | longs[at + 3]) == 0;
  }

  private static long[] longs(Digest digest) {
    long[] longs = new long[LONGS];
    ByteBuffer.wrap(digest.bytes()).asLongBuffer().get(longs);
    return longs;
  }
}
