package dev.writ.canonicalize;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A set of digests in 40 to 48 bytes for each: their bytes one after the other, and an
 * open-addressed table of their numbers, so that nothing but numbers is copied when it grows. For
 * the many digests of a long run, for which a tree of objects would take several times as much
 * memory. Whoever made the digests up, so that many have the same place, gains nothing: those that
 * do not find one nearby are kept in a tree. Not thread safe.
 */
public final class DigestSet {
  private static final int LONGS = Digest.LENGTH / Long.BYTES;
  private static final int CHUNK = 1024;
  private static final int PLACES_AT_FIRST = 16;

  /** How many places are looked at for one digest; those of real digests are found in a few. */
  private static final int PROBES = 64;

  private static final int CROWDED = -1;

  /** Four longs for each digest. */
  private final List<long[]> chunks = new ArrayList<>();

  private int size;

  /** Numbers of digests plus one; zero where a place is free. */
  private int[] places = new int[PLACES_AT_FIRST];

  /** Those that found no place nearby; their bytes are with all others. */
  private final TreeSet<Digest> crowded = new TreeSet<>();

  /** Adds a digest; false where it was there before. */
  public boolean add(Digest digest) {
    long[] longs = longs(digest);
    int place = find(longs);
    if (place == CROWDED ? !crowded.add(digest) : places[place] != 0) {
      return false;
    }
    if (size % CHUNK == 0) {
      chunks.add(new long[LONGS * (size == 0 ? PLACES_AT_FIRST : CHUNK)]);
    } else if (size == chunks.getFirst().length / LONGS) {
      chunks.set(0, Arrays.copyOf(chunks.getFirst(), LONGS * Math.min(2 * size, CHUNK)));
    }
    System.arraycopy(longs, 0, chunk(size), at(size), LONGS);
    size++;
    if (place != CROWDED) {
      places[place] = size;
    }
    if (2 * size > places.length) {
      grow();
    }
    return true;
  }

  public boolean contains(Digest digest) {
    int place = find(longs(digest));
    return place == CROWDED ? crowded.contains(digest) : places[place] != 0;
  }

  public int size() {
    return size;
  }

  /** All of them in their order; the set is not to be used after that. */
  public void drainSorted(Consumer<Digest> consumer) {
    sort();
    for (int i = 0; i < size; i++) {
      consumer.accept(digest(i));
    }
  }

  private Digest digest(int number) {
    ByteBuffer bytes = ByteBuffer.allocate(Digest.LENGTH);
    bytes.asLongBuffer().put(chunk(number), at(number), LONGS);
    return Digest.ofBytes(bytes.array());
  }

  /** Heap sort: in place, and no slower for digests that an attacker chose. */
  private void sort() {
    for (int i = size / 2 - 1; i >= 0; i--) {
      sink(i, size);
    }
    for (int end = size - 1; end > 0; end--) {
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
    int atA = at(a);
    int atB = at(b);
    return Arrays.compareUnsigned(chunk(a), atA, atA + LONGS, chunk(b), atB, atB + LONGS);
  }

  private void swap(int a, int b) {
    long[] kept = Arrays.copyOfRange(chunk(a), at(a), at(a) + LONGS);
    System.arraycopy(chunk(b), at(b), chunk(a), at(a), LONGS);
    System.arraycopy(kept, 0, chunk(b), at(b), LONGS);
  }

  private void grow() {
    places = new int[2 * places.length];
    crowded.clear();
    for (int number = 0; number < size; number++) {
      int place = free(home(chunk(number), at(number)));
      if (place == CROWDED) {
        crowded.add(digest(number));
      } else {
        places[place] = number + 1;
      }
    }
  }

  private int free(int home) {
    for (int probe = 0; probe < PROBES; probe++) {
      int place = home + probe & places.length - 1;
      if (places[place] == 0) {
        return place;
      }
    }
    return CROWDED;
  }

  /** The place of that digest, or where it would be; none where others have all of them. */
  private int find(long[] digest) {
    int home = home(digest, 0);
    for (int probe = 0; probe < PROBES; probe++) {
      int place = home + probe & places.length - 1;
      if (places[place] == 0 || isAt(places[place] - 1, digest)) {
        return place;
      }
    }
    return CROWDED;
  }

  private boolean isAt(int number, long[] digest) {
    int at = at(number);
    return Arrays.equals(chunk(number), at, at + LONGS, digest, 0, LONGS);
  }

  private int home(long[] digest, int at) {
    long mixed = (digest[at] ^ digest[at + 1]) * 0x9e3779b97f4a7c15L;
    return (int) (mixed >>> 32) & places.length - 1;
  }

  private long[] chunk(int number) {
    return chunks.get(number / CHUNK);
  }

  private static int at(int number) {
    return LONGS * (number % CHUNK);
  }

  private static long[] longs(Digest digest) {
    ByteBuffer bytes = ByteBuffer.wrap(digest.bytes());
    return new long[] {bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong()};
  }
}
