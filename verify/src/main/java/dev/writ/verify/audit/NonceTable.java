package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.function.LongUnaryOperator;

/**
 * Which request used a nonce last, 64 bytes for each: records of eight longs in an open-addressed
 * table, found by 128 bits of the nonce's SHA-256. What is over goes when the table is made anew.
 */
final class NonceTable {
  private static final int RECORD = 8;
  private static final int OWNER = 2;
  private static final int AT = 6;
  private static final int UNTIL = 7;
  private static final int PLACES_AT_FIRST = 1024;

  private long[] table = new long[PLACES_AT_FIRST * RECORD];
  private int size;

  /** Uses that were taken until then, in milliseconds, are over. */
  private long over = Long.MIN_VALUE;

  /** A use of a nonce, until another request may use it. */
  record Use(Digest owner, Instant until) {}

  void put(String nonce, Digest owner, Instant at, Instant until) {
    if (2 * (size + 1) > places()) {
      rehash();
    }
    ByteBuffer record = ByteBuffer.allocate(RECORD * Long.BYTES);
    record.put(hash(nonce), 0, OWNER * Long.BYTES).put(owner.bytes());
    record.putLong(at.toEpochMilli()).putLong(until.toEpochMilli()).flip();
    long[] longs = new long[RECORD];
    record.asLongBuffer().get(longs);
    put(longs, 0);
  }

  private void put(long[] from, int at) {
    int place = place(from[at], from[at + 1]);
    if (isFree(place)) {
      size++;
    }
    System.arraycopy(from, at, table, place, RECORD);
  }

  Optional<Use> find(String nonce) {
    ByteBuffer hash = ByteBuffer.wrap(hash(nonce));
    int place = place(hash.getLong(), hash.getLong());
    if (isFree(place)) {
      return Optional.empty();
    }
    ByteBuffer owner = ByteBuffer.allocate(Digest.LENGTH);
    owner.asLongBuffer().put(table, place + OWNER, AT - OWNER);
    return Optional.of(
        new Use(Digest.ofBytes(owner.array()), Instant.ofEpochMilli(table[place + UNTIL])));
  }

  /**
   * Shortens uses.
   *
   * @param until of a use at that time, both in milliseconds
   */
  void shorten(LongUnaryOperator until) {
    for (int place = 0; place < table.length; place += RECORD) {
      if (!isFree(place)) {
        table[place + UNTIL] = Math.min(table[place + UNTIL], until.applyAsLong(table[place + AT]));
      }
    }
  }

  /** Uses until before that time need not be known any more. */
  void forget(Instant time) {
    over = Math.max(over, time.toEpochMilli());
  }

  private static byte[] hash(String nonce) {
    return Digest.sha256(nonce.getBytes(StandardCharsets.UTF_8)).bytes();
  }

  private int places() {
    return table.length / RECORD;
  }

  /** A record has a time, which is not 0. */
  private boolean isFree(int place) {
    return table[place + AT] == 0;
  }

  private int place(long high, long low) {
    int mask = places() - 1;
    int number = (int) low & mask;
    while (!isFree(number * RECORD)
        && (table[number * RECORD] != high || table[number * RECORD + 1] != low)) {
      number = number + 1 & mask;
    }
    return number * RECORD;
  }

  /** Makes the table anew, with what is not over, and with room for as much again. */
  private void rehash() {
    long[] former = table;
    int kept = 0;
    for (int place = 0; place < former.length; place += RECORD) {
      kept += !isFree(place) && former[place + UNTIL] >= over ? 1 : 0;
    }
    int places = PLACES_AT_FIRST;
    while (places < 3 * kept) {
      places *= 2;
    }
    table = new long[places * RECORD];
    size = 0;
    for (int place = 0; place < former.length; place += RECORD) {
      if (former[place + AT] != 0 && former[place + UNTIL] >= over) {
        put(former, place);
      }
    }
  }
}
