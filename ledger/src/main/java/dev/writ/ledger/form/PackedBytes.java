package dev.writ.ledger.form;

import dev.writ.canonicalize.Digest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/** Bytes that are appended to, with the forms that stored rows have. Not thread safe. */
public final class PackedBytes {
  /** Digits of a key id: 32 bytes in base64url without padding. */
  static final int KEY_DIGITS = 43;

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NIBBLES = new byte[256];
  private static final byte[] SIXTY_FOUR = new byte[256];

  static {
    Arrays.fill(NIBBLES, (byte) -1);
    for (int i = 0; i < HEX.length; i++) {
      NIBBLES[HEX[i]] = (byte) i;
    }
    Arrays.fill(SIXTY_FOUR, (byte) -1);
    byte[] digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            .getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < digits.length; i++) {
      SIXTY_FOUR[digits[i]] = (byte) i;
    }
  }

  private byte[] bytes;
  private int length;

  PackedBytes(int capacity) {
    bytes = new byte[capacity];
  }

  private void reserve(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }

  public void put(int one) {
    reserve(1);
    bytes[length++] = (byte) one;
  }

  public void put(byte[] many) {
    reserve(many.length);
    System.arraycopy(many, 0, bytes, length, many.length);
    length += many.length;
  }

  /** A length of at most 2^31 − 1, seven bits in a byte, the least first. */
  void putLength(int value) {
    int rest = value;
    while (rest >= 0x80) {
      put(rest | 0x80);
      rest >>>= 7;
    }
    put(rest);
  }

  void putSixBytes(long value) {
    for (int shift = 40; shift >= 0; shift -= 8) {
      put((int) (value >> shift));
    }
  }

  /** Such a number, without a sign. */
  static long sixBytes(byte[] bytes, int from) {
    long value = 0;
    for (int i = from; i < from + 6; i++) {
      value = value << 8 | bytes[i] & 0xff;
    }
    return value;
  }

  /**
   * A code, then the bytes of lower-case hexadecimal digits; nothing and false where a byte is no
   * such digit.
   */
  boolean putHex(int code, byte[] text, int from, int digits) {
    for (int i = from; i < from + digits; i++) {
      if (NIBBLES[text[i] & 0xff] < 0) {
        return false;
      }
    }
    put(code);
    for (int i = from; i < from + digits; i += 2) {
      put(NIBBLES[text[i]] << 4 | NIBBLES[text[i + 1]]);
    }
    return true;
  }

  void putAsHex(byte[] from, int at, int count) {
    reserve(2 * count);
    for (int i = at; i < at + count; i++) {
      put(HEX[from[i] >> 4 & 0xf]);
      put(HEX[from[i] & 0xf]);
    }
  }

  /** A code, then the 32 bytes of a key id; nothing and false where the text has another form. */
  boolean putKeyId(int code, byte[] text, int from) {
    for (int i = from; i < from + KEY_DIGITS; i++) {
      if (SIXTY_FOUR[text[i] & 0xff] < 0) {
        return false;
      }
    }
    if ((SIXTY_FOUR[text[from + KEY_DIGITS - 1]] & 3) != 0) {
      return false; // bits that no byte needs: another spelling of the same bytes
    }
    put(code);
    put(Base64.getUrlDecoder().decode(Arrays.copyOfRange(text, from, from + KEY_DIGITS)));
    return true;
  }

  /** The digits of such a key id. */
  static byte[] keyId(byte[] bytes, int from) {
    if (from + Digest.LENGTH > bytes.length) {
      throw new IndexOutOfBoundsException(from);
    }
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encode(Arrays.copyOfRange(bytes, from, from + Digest.LENGTH));
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }
}
