package dev.writ.canonicalize.json;

/** The escapes of JSON strings, and which of them RFC 8785, 3.2.2.2 writes. */
final class Escapes {
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private Escapes() {}

  /** The value of a hexadecimal digit of either case, or a negative number. */
  static int hexDigit(int b) {
    if (b >= '0' && b <= '9') {
      return b - '0';
    }
    int letter = b | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }

  /** The letter of a control's short escape, or 0 where it has none. */
  private static int shortForm(int c) {
    return switch (c) {
      case '"', '\\' -> c;
      case '\b' -> 'b';
      case '\t' -> 't';
      case '\n' -> 'n';
      case '\f' -> 'f';
      case '\r' -> 'r';
      default -> 0;
    };
  }

  /** Whether the escape of four digits at {@code i}, which says {@code unit}, is canonical. */
  static boolean isCanonicalHex(byte[] in, int i, int unit) {
    return unit < 0x20 && shortForm(unit) == 0 && in[i + 5] == HEX[unit & 0xF];
  }

  /** Writes a quote, a backslash or a control below 0x20 as canonical form does. */
  static void put(int c, ByteSink out) {
    int letter = shortForm(c);
    out.put('\\');
    if (letter != 0) {
      out.put(letter);
    } else {
      out.put('u');
      out.put('0');
      out.put('0');
      out.put(HEX[c >> 4]);
      out.put(HEX[c & 0xF]);
    }
  }

  /**
   * Writes the text of a string that {@link JsonScanner} has passed: every escape resolved, and
   * what must be escaped escaped again.
   *
   * @param canonical false to leave it unescaped: the UTF-8 of the string itself
   */
  static void resolve(byte[] in, int start, int end, boolean canonical, ByteSink out) {
    int i = start;
    while (i < end) {
      int run = i;
      while (i < end && in[i] != '\\') {
        i++;
      }
      out.put(in, run, i);
      if (i == end) {
        return;
      }
      int c = charOf(in, i);
      i += in[i + 1] == 'u' ? 6 : 2;
      if (Character.isHighSurrogate((char) c)) {
        c = Character.toCodePoint((char) c, (char) charOf(in, i));
        i += 6;
      }
      if (canonical && (c < 0x20 || c == '"' || c == '\\')) {
        put(c, out);
      } else {
        out.putCodePoint(c);
      }
    }
  }

  private static int charOf(byte[] in, int i) {
    return switch (in[i + 1]) {
      case 'b' -> '\b';
      case 't' -> '\t';
      case 'n' -> '\n';
      case 'f' -> '\f';
      case 'r' -> '\r';
      case 'u' ->
          hexDigit(in[i + 2]) << 12
              | hexDigit(in[i + 3]) << 8
              | hexDigit(in[i + 4]) << 4
              | hexDigit(in[i + 5]);
      default -> in[i + 1];
    };
  }
}
