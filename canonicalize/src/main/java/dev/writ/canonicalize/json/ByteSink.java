package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.util.Arrays;

/** A growing run of bytes that refuses to grow past a bound. */
final class ByteSink {
  /** {@link #room} may be asked for a little more than is used, so the array may pass the bound. */
  private static final int SLACK = 64;

  /** No bound but that of an array. */
  static final int MAX = Integer.MAX_VALUE - 8 - SLACK;

  private static final byte[] EMPTY = {};

  private final int max;
  private byte[] bytes = EMPTY;
  private int length;

  ByteSink(int max) {
    this.max = Math.min(max, MAX);
  }

  int length() {
    return length;
  }

  /** The bytes so far, and perhaps more behind them; valid until the next growth. */
  byte[] array() {
    return bytes;
  }

  void clear() {
    length = 0;
  }

  /**
   * Makes room for so many more bytes and returns the array, which {@link #advance} then counts in.
   *
   * @throws WritException {@code CAN-009} past the bound
   */
  byte[] room(int more) {
    if (bytes.length - length < more) {
      grow(more);
    }
    return bytes;
  }

  void advance(int newLength) {
    length = newLength;
  }

  void put(int b) {
    room(1)[length++] = (byte) b;
  }

  void put(byte[] from, int start, int end) {
    int count = end - start;
    System.arraycopy(from, start, room(count), length, count);
    length += count;
  }

  /** Puts one code point as UTF-8; the caller has made sure that it is no surrogate. */
  void putCodePoint(int c) {
    byte[] to = room(4);
    int at = length;
    if (c < 0x80) {
      to[at++] = (byte) c;
    } else if (c < 0x800) {
      to[at++] = (byte) (0xC0 | c >> 6);
      to[at++] = (byte) (0x80 | c & 0x3F);
    } else if (c < 0x10000) {
      to[at++] = (byte) (0xE0 | c >> 12);
      to[at++] = (byte) (0x80 | c >> 6 & 0x3F);
      to[at++] = (byte) (0x80 | c & 0x3F);
    } else {
      to[at++] = (byte) (0xF0 | c >> 18);
      to[at++] = (byte) (0x80 | c >> 12 & 0x3F);
      to[at++] = (byte) (0x80 | c >> 6 & 0x3F);
      to[at++] = (byte) (0x80 | c & 0x3F);
    }
    length = at;
  }

  /**
   * The bytes.
   *
   * @throws WritException {@code CAN-009} where they are more than the bound
   */
  byte[] toBytes() {
    if (length > max) {
      throw tooLarge();
    }
    return bytes.length == length ? bytes : Arrays.copyOf(bytes, length);
  }

  private void grow(int more) {
    long wanted = (long) length + more;
    if (wanted > max + (long) SLACK) {
      throw tooLarge();
    }
    long doubled = Math.max(wanted, Math.max(64, 2L * bytes.length));
    bytes = Arrays.copyOf(bytes, (int) Math.min(max + (long) SLACK, doubled));
  }

  private WritException tooLarge() {
    return new WritException(
        CanonicalizeError.TOO_LARGE, "the canonical form has more than " + max + " bytes");
  }
}
