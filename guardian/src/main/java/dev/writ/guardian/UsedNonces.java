package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;

/**
 * Which request used a nonce last, for as long as the nonce is not free again: some 75 bytes for
 * each request of that time, which is all that accounts keep of a request that is over. Records lie
 * in flat arrays in the order in which they came, which is nearly that of their times, so that they
 * leave in that order; an open-addressed table of their numbers finds them. Not thread safe.
 *
 * <p>A nonce is known by 128 bits of the SHA-256 of tenant, subject and nonce. Whoever makes two
 * with the same bits, after 2^64 attempts, has the second of his own requests refused.
 */
public final class UsedNonces {
  /** Longs of a record: the nonce's digest (2), the request (4), when it was judged, the step. */
  private static final int RECORD = 8;

  private static final int REQUEST = 2;
  private static final int AT = 6;
  private static final int STEP = 7;

  private static final int CHUNK_RECORDS = 512;
  private static final int PLACES_AT_FIRST = 64;

  private final List<long[]> chunks = new ArrayList<>();

  /** The record at that number is the first of the first chunk; a multiple of a chunk's records. */
  private int offset;

  /** The numbers of the first record that may be in use, and of the next one. */
  private int first;

  private int next;

  /** Numbers plus one, by the nonce's digest; zero where there is none. */
  private int[] places = new int[PLACES_AT_FIRST];

  private int size;

  /** The nonce of an account, as it is looked up. */
  public record Key(long high, long low) {
    public static Key of(String nonce) {
      ByteBuffer digest =
          ByteBuffer.wrap(Digest.sha256(nonce.getBytes(StandardCharsets.UTF_8)).bytes());
      return new Key(digest.getLong(), digest.getLong());
    }
  }

  /** A use of a nonce. */
  public record Use(Digest request, long atMs, long step) {}

  int size() {
    return size;
  }

  /** The bytes that it takes, without objects' headers. */
  long bytes() {
    return (long) chunks.size() * CHUNK_RECORDS * RECORD * Long.BYTES
        + (long) places.length * Integer.BYTES;
  }

  public Optional<Use> find(Key nonce) {
    int place = place(nonce);
    return places[place] == 0 ? Optional.empty() : Optional.of(use(places[place] - 1));
  }

  /** Remembers a use, unless a later step's is there. */
  public void add(Key nonce, Use use) {
    int place = place(nonce);
    if (places[place] != 0) {
      if (field(places[place] - 1, STEP) > use.step()) {
        return;
      }
      removeAt(place);
      place = place(nonce);
    }
    if (next == Integer.MAX_VALUE - 1) {
      renumber();
      place = place(nonce);
    }
    int number = next++;
    if ((number - offset) / CHUNK_RECORDS == chunks.size()) {
      chunks.add(new long[CHUNK_RECORDS * RECORD]);
    }
    long[] chunk = chunk(number);
    int at = at(number);
    chunk[at] = nonce.high();
    chunk[at + 1] = nonce.low();
    ByteBuffer request = ByteBuffer.wrap(use.request().bytes());
    for (int i = 0; i < AT - REQUEST; i++) {
      chunk[at + REQUEST + i] = request.getLong();
    }
    chunk[at + AT] = use.atMs();
    chunk[at + STEP] = use.step();
    places[place] = number + 1;
    size++;
    if (2L * size > places.length) {
      rehash(2 * places.length);
    }
  }

  /** Forgets a use if it is that request's. */
  void remove(Key nonce, Digest request) {
    int place = place(nonce);
    if (places[place] != 0 && use(places[place] - 1).request().equals(request)) {
      removeAt(place);
    }
  }

  /**
   * Forgets the oldest uses that are over, up to the first that is not.
   *
   * @param isOver whether a use at that time, in milliseconds, is
   */
  public void expire(LongPredicate isOver) {
    while (first < next) {
      int place = place(new Key(field(first, 0), field(first, 1)));
      if (places[place] == first + 1) { // else it was removed before
        if (!isOver.test(field(first, AT))) {
          break;
        }
        removeAt(place);
      }
      first++;
      if (first - offset == CHUNK_RECORDS) {
        chunks.removeFirst();
        offset = first;
      }
    }
    int length = places.length;
    while (8L * size < length && length > PLACES_AT_FIRST) {
      length /= 2;
    }
    if (length < places.length / 2) {
      rehash(length);
    }
  }

  /** All uses that are in the table, the oldest first. */
  void forEach(BiConsumer<Key, Use> consumer) {
    for (int number = first; number < next; number++) {
      Key nonce = new Key(field(number, 0), field(number, 1));
      if (places[place(nonce)] == number + 1) {
        consumer.accept(nonce, use(number));
      }
    }
  }

  void clear() {
    chunks.clear();
    offset = 0;
    first = 0;
    next = 0;
    size = 0;
    places = new int[PLACES_AT_FIRST];
  }

  private long[] chunk(int number) {
    return chunks.get((number - offset) / CHUNK_RECORDS);
  }

  private int at(int number) {
    return (number - offset) % CHUNK_RECORDS * RECORD;
  }

  private long field(int number, int field) {
    return chunk(number)[at(number) + field];
  }

  private Use use(int number) {
    ByteBuffer request = ByteBuffer.allocate(Digest.LENGTH);
    for (int i = REQUEST; i < AT; i++) {
      request.putLong(field(number, i));
    }
    return new Use(Digest.ofBytes(request.array()), field(number, AT), field(number, STEP));
  }

  /** Where the nonce is in the table, or would be. */
  private int place(Key nonce) {
    int mask = places.length - 1;
    int place = (int) nonce.low() & mask;
    while (places[place] != 0) {
      int number = places[place] - 1;
      if (field(number, 0) == nonce.high() && field(number, 1) == nonce.low()) {
        return place;
      }
      place = place + 1 & mask;
    }
    return place;
  }

  /** Takes a place out of the table and closes the gap, so that what lies behind it is found. */
  private void removeAt(int removed) {
    int mask = places.length - 1;
    int gap = removed;
    int place = gap;
    while (true) {
      places[gap] = 0;
      int home;
      do {
        place = place + 1 & mask;
        if (places[place] == 0) {
          size--;
          return;
        }
        home = (int) field(places[place] - 1, 1) & mask;
      } while ((place - home & mask) < (place - gap & mask));
      places[gap] = places[place];
      gap = place;
    }
  }

  private void rehash(int length) {
    int[] former = places;
    places = new int[length];
    int mask = length - 1;
    for (int entry : former) {
      if (entry != 0) {
        int place = (int) field(entry - 1, 1) & mask;
        while (places[place] != 0) {
          place = place + 1 & mask;
        }
        places[place] = entry;
      }
    }
  }

  /** Numbers the records from the first chunk's beginning again: numbers are ints. */
  private void renumber() {
    for (int i = 0; i < places.length; i++) {
      places[i] = places[i] == 0 ? 0 : places[i] - offset;
    }
    first -= offset;
    next -= offset;
    offset = 0;
  }
}
