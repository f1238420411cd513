package dev.writ.canonicalize.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** The order of RFC 8785, 3.2.3, UTF-16 code units, on keys that are valid UTF-8. */
final class KeyOrder {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final long HIGHS = 0x8080808080808080L;

  private KeyOrder() {}

  /**
   * The weights of a key's first eight bytes, padded with zeros, as one unsigned number: keys with
   * different prefixes are ordered as their prefixes are.
   */
  static long prefix(byte[] from, int start, int end) {
    int length = end - start;
    if (length == 0) {
      return 0;
    }
    long bytes = 0;
    if (start + 8 <= from.length) {
      bytes = (long) LONG.get(from, start);
      bytes = length < 8 ? bytes & -1L << 64 - 8 * length : bytes;
      if ((bytes & HIGHS) == 0) {
        return bytes;
      }
      bytes = 0;
    }
    for (int i = 0; i < 8; i++) {
      bytes = bytes << 8 | (i < length ? weight(from[start + i]) : 0);
    }
    return bytes;
  }

  static int compare(byte[] a, int aStart, int aEnd, byte[] b, int bStart, int bEnd) {
    int i = Arrays.mismatch(a, aStart, aEnd, b, bStart, bEnd);
    if (i < 0) {
      return 0;
    }
    if (i == aEnd - aStart || i == bEnd - bStart) {
      return (aEnd - aStart) - (bEnd - bStart);
    }
    return weight(a[aStart + i]) - weight(b[bStart + i]);
  }

  /**
   * UTF-8 has the order of code points. That of UTF-16 differs in one thing: U+E000 to U+FFFF,
   * whose lead bytes are EE and EF, come after the surrogates that write U+10000 and up, whose lead
   * bytes are F0 to F4. (U+E000's neighbours below, with lead ED, come before both.) These bytes
   * occur as lead bytes only, so weighing them anew, past F4, is all it takes.
   */
  private static int weight(byte b) {
    int unsigned = b & 0xFF;
    return unsigned < 0xEE ? unsigned : unsigned < 0xF0 ? unsigned + 0x0A : unsigned;
  }
}
