package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.util.Arrays;

/**
 * The one strict scanner of JSON texts (RFC 8259), over bytes. Everything that reads JSON is a
 * subclass that receives its events, so that all of them accept and refuse the same texts. One
 * pass, no recursion, no memory beyond the text but one bit for each level.
 *
 * <p>Duplicate keys are the subclass's to refuse, when an object closes.
 */
abstract class JsonScanner {
  final byte[] in;
  private final Limits limits;
  private final Decimal decimal;
  private int at;
  private int depth;

  /** One bit for each open container, the outermost lowest: whether it is an object. */
  private long[] objects = new long[2];

  /** About the string just scanned: whether it has escapes, and whether all are canonical. */
  private boolean escaped;

  private boolean canonicalEscapes;

  JsonScanner(byte[] in, Limits limits) {
    this.in = in;
    this.limits = limits;
    this.decimal = new Decimal(in);
  }

  /** White space, which has no place in canonical form. */
  abstract void space(int start, int end);

  abstract void openObject(int start);

  /** The closing brace stands at {@code at}. */
  abstract void closeObject(int at);

  abstract void openArray();

  abstract void closeArray();

  /**
   * A member's key between its quotes.
   *
   * @param escaped whether there are escapes in it
   * @param canonical whether all of them are those that RFC 8785 writes
   */
  abstract void key(int start, int end, boolean escaped, boolean canonical);

  /** A string between its quotes; parameters as in {@link #key}. */
  abstract void string(int start, int end, boolean escaped, boolean canonical);

  /** A literal that is an integer in canonical form. */
  abstract void integer(int start, int end, long value);

  /** Any other number, valid until the next one. */
  abstract void number(int start, int end, Decimal value);

  /** {@code true}, {@code false} or {@code null}. */
  abstract void literal(JsonValue value);

  /**
   * Reads the one value of the text.
   *
   * @throws WritException {@code CAN-001} to {@code CAN-014} at the first fault
   */
  final void scan() {
    if (in.length > limits.bytesMax()) {
      throw new WritException(
          CanonicalizeError.TOO_LARGE, in.length + " bytes, at most " + limits.bytesMax());
    }
    if (in.length >= 3 && in[0] == (byte) 0xEF && in[1] == (byte) 0xBB && in[2] == (byte) 0xBF) {
      throw refuse(CanonicalizeError.BYTE_ORDER_MARK, 0);
    }
    boolean more;
    do {
      more = opensContainer() || anotherFollows();
    } while (more);
    skipSpace();
    if (at < in.length) {
      throw refuse(CanonicalizeError.TRAILING_BYTES, at);
    }
  }

  /**
   * Reads a value; if it is a container that is not empty, reads up to its first value and returns
   * true.
   */
  private boolean opensContainer() {
    skipSpace();
    switch (peek()) {
      case '{' -> {
        enter(true);
        openObject(at++);
        skipSpace();
        if (peek() == '}') {
          closeObject(at);
          leave();
          return false;
        }
        memberKey();
        return true;
      }
      case '[' -> {
        enter(false);
        openArray();
        at++;
        skipSpace();
        if (peek() == ']') {
          closeArray();
          leave();
          return false;
        }
        return true;
      }
      case '"' -> {
        int start = at + 1;
        int end = scanString();
        string(start, end, escaped, canonicalEscapes);
      }
      case 't' -> word("true", JsonValue.TRUE);
      case 'f' -> word("false", JsonValue.FALSE);
      case 'n' -> word("null", JsonValue.NULL);
      default -> scanNumber();
    }
    return false;
  }

  /** After a value: closes the containers that end here; returns true if another value follows. */
  private boolean anotherFollows() {
    while (depth > 0) {
      skipSpace();
      boolean object = inObject();
      int b = peek();
      if (b == ',') {
        at++;
        if (object) {
          skipSpace();
          memberKey();
        }
        return true;
      }
      if (b != (object ? '}' : ']')) {
        throw refuse(CanonicalizeError.SYNTAX, at);
      }
      if (object) {
        closeObject(at);
      } else {
        closeArray();
      }
      leave();
    }
    return false;
  }

  private void memberKey() {
    if (peek() != '"') {
      throw refuse(CanonicalizeError.SYNTAX, at);
    }
    int start = at + 1;
    int end = scanString();
    key(start, end, escaped, canonicalEscapes);
    skipSpace();
    if (peek() != ':') {
      throw refuse(CanonicalizeError.SYNTAX, at);
    }
    at++;
  }

  private void enter(boolean object) {
    if (depth >= limits.depthMax()) {
      throw new WritException(
          CanonicalizeError.TOO_DEEP, "more than " + limits.depthMax() + " levels at byte " + at);
    }
    int word = depth >> 6;
    if (word == objects.length) {
      objects = Arrays.copyOf(objects, 2 * word);
    }
    long bit = 1L << depth;
    objects[word] = object ? objects[word] | bit : objects[word] & ~bit;
    depth++;
  }

  private boolean inObject() {
    int top = depth - 1;
    return (objects[top >> 6] & 1L << top) != 0;
  }

  private void leave() {
    at++;
    depth--;
  }

  private void word(String word, JsonValue value) {
    for (int i = 0; i < word.length(); i++, at++) {
      if (peek() != word.charAt(i)) {
        throw refuse(CanonicalizeError.SYNTAX, at);
      }
    }
    literal(value);
  }

  private void scanNumber() {
    int start = at;
    boolean negative = in[at] == '-';
    if (negative) {
      at++;
    }
    int first = at;
    long value = 0;
    int d;
    while (at < in.length && (d = in[at] - '0') >= 0 && d <= 9) {
      value = 10 * value + d; // overflows only for a literal that is not of the short kind below
      at++;
    }
    int count = at - first;
    if (count > 1 && in[first] == '0') {
      throw refuse(CanonicalizeError.LEADING_ZERO, first);
    }
    boolean whole = at == in.length || in[at] != '.' && (in[at] | 0x20) != 'e';
    if (whole && count > 0 && count <= Decimal.EXACT_DIGITS && (value != 0 || !negative)) {
      integer(start, at, negative ? -value : value);
      return;
    }
    requireDigits(first);
    if (!whole) {
      fractionAndExponent();
    }
    decimal.read(start, at);
    number(start, at, decimal);
  }

  private void fractionAndExponent() {
    if (in[at] == '.') {
      digits(++at);
    }
    if (at < in.length && (in[at] | 0x20) == 'e') {
      at++;
      int sign = peek();
      if (sign == '+' || sign == '-') {
        at++;
      }
      digits(at);
    }
  }

  private void digits(int start) {
    while (at < in.length && in[at] >= '0' && in[at] <= '9') {
      at++;
    }
    requireDigits(start);
  }

  private void requireDigits(int start) {
    if (at == start) {
      peek();
      throw refuse(CanonicalizeError.SYNTAX, at);
    }
  }

  /** Passes over a string from its opening quote and returns where its closing quote stands. */
  private int scanString() {
    escaped = false;
    canonicalEscapes = true;
    int i = at + 1;
    while (true) {
      i = PlainText.end(in, i, '"');
      if (i >= in.length) {
        throw refuse(CanonicalizeError.TRUNCATED, in.length);
      }
      int b = in[i];
      if (b == '"') {
        at = i + 1;
        return i;
      }
      if (b == '\\') {
        escaped = true;
        i = escape(i);
      } else if (b < 0) {
        i = multiByte(i);
      } else {
        throw refuse(CanonicalizeError.SYNTAX, i);
      }
    }
  }

  /** Checks the escape at {@code i} and returns where it ends. */
  private int escape(int i) {
    switch (byteAt(i + 1)) {
      case '"', '\\', 'b', 'f', 'n', 'r', 't' -> {
        return i + 2;
      }
      case '/' -> {
        canonicalEscapes = false;
        return i + 2;
      }
      case 'u' -> {
        int unit = hex4(i + 2);
        canonicalEscapes &= Escapes.isCanonicalHex(in, i, unit);
        if (!Character.isSurrogate((char) unit)) {
          return i + 6;
        }
        if (Character.isHighSurrogate((char) unit)
            && byteAt(i + 6) == '\\'
            && byteAt(i + 7) == 'u'
            && Character.isLowSurrogate((char) hex4(i + 8))) {
          return i + 12;
        }
        throw refuse(CanonicalizeError.LONE_SURROGATE, i);
      }
      default -> throw refuse(CanonicalizeError.SYNTAX, i);
    }
  }

  private int hex4(int i) {
    int unit = 0;
    for (int end = i + 4; i < end; i++) {
      int digit = Escapes.hexDigit(byteAt(i));
      if (digit < 0) {
        throw refuse(CanonicalizeError.SYNTAX, i);
      }
      unit = unit << 4 | digit;
    }
    return unit;
  }

  /** Checks one character of two to four bytes by the table of RFC 3629, 4; returns its end. */
  private int multiByte(int i) {
    int lead = in[i] & 0xFF;
    int low = 0x80;
    int high = 0xBF;
    int more;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      low = lead == 0xE0 ? 0xA0 : low;
      high = lead == 0xED ? 0x9F : high;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      low = lead == 0xF0 ? 0x90 : low;
      high = lead == 0xF4 ? 0x8F : high;
    } else {
      throw refuse(CanonicalizeError.INVALID_UTF8, i);
    }
    for (int j = i + 1; j <= i + more; j++) {
      int b = byteAt(j);
      if (b < low || b > high) {
        throw refuse(CanonicalizeError.INVALID_UTF8, i);
      }
      low = 0x80;
      high = 0xBF;
    }
    return i + more + 1;
  }

  private void skipSpace() {
    int i = at;
    while (i < in.length && (in[i] == ' ' || in[i] == '\n' || in[i] == '\r' || in[i] == '\t')) {
      i++;
    }
    if (i != at) {
      space(at, i);
      at = i;
    }
  }

  private int peek() {
    return byteAt(at);
  }

  private int byteAt(int i) {
    if (i >= in.length) {
      throw refuse(CanonicalizeError.TRUNCATED, in.length);
    }
    return in[i] & 0xFF;
  }

  static WritException refuse(CanonicalizeError code, int at) {
    return new WritException(code, "at byte " + at);
  }
}
