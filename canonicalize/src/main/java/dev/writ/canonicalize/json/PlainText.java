package dev.writ.canonicalize.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** ASCII that stands in a JSON string as it is. */
final class PlainText {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;

  private PlainText() {}

  /**
   * The first byte from {@code i} on that is a quote, a backslash, a control, or not ASCII.
   *
   * @param other one more character that ends it; a quote where there is none
   */
  static int end(byte[] text, int i, char other) {
    int at = i;
    long others = other * ONES;
    // Eight bytes at once. A borrow can only mark bytes above one that is truly special, and the
    // lowest mark is the one that counts.
    for (int last = text.length - 8; at <= last; at += 8) {
      long w = (long) LONG.get(text, at);
      long quote = w ^ 0x22 * ONES;
      long slash = w ^ 0x5C * ONES;
      long third = w ^ others;
      long special = (w - 0x20 * ONES | quote - ONES | slash - ONES | third - ONES | w) & HIGHS;
      // A byte >= 0x80 is marked by itself; the XORs keep its high bit, so no ~w is needed.
      if (special != 0) {
        return at + (Long.numberOfTrailingZeros(special) >>> 3);
      }
    }
    while (at < text.length) {
      int b = text[at];
      if (b < 0x20 || b == '"' || b == '\\' || b == other) {
        break;
      }
      at++;
    }
    return at;
  }
}
