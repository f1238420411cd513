package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** A strict reader of one JSON text (RFC 8259) over its bytes. */
final class JsonReader {
  private final byte[] in;
  private final Limits limits;
  private int at;
  private int depth;

  JsonReader(byte[] in, Limits limits) {
    this.in = in;
    this.limits = limits;
  }

  JsonValue read() {
    if (in.length > limits.bytesMax()) {
      throw new WritException(
          CanonicalizeError.TOO_LARGE, in.length + " bytes, at most " + limits.bytesMax());
    }
    if (in.length >= 3 && in[0] == (byte) 0xEF && in[1] == (byte) 0xBB && in[2] == (byte) 0xBF) {
      throw new WritException(CanonicalizeError.BYTE_ORDER_MARK, "");
    }
    JsonValue value = value();
    space();
    if (at < in.length) {
      throw refuse(CanonicalizeError.TRAILING_BYTES);
    }
    return value;
  }

  private JsonValue value() {
    space();
    return switch (peek()) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> new JsonValue.Str(string());
      case 't' -> literal("true", JsonValue.TRUE);
      case 'f' -> literal("false", JsonValue.FALSE);
      case 'n' -> literal("null", JsonValue.NULL);
      default -> number();
    };
  }

  private JsonValue object() {
    enter();
    TreeMap<String, JsonValue> members = new TreeMap<>();
    space();
    if (peek() == '}') {
      at++;
    } else {
      while (true) {
        space();
        if (peek() != '"') {
          throw refuse(CanonicalizeError.SYNTAX);
        }
        int keyAt = at;
        String key = string();
        space();
        expect(':');
        if (members.put(key, value()) != null) {
          at = keyAt;
          throw refuse(CanonicalizeError.DUPLICATE_KEY);
        }
        space();
        if (peek() == '}') {
          at++;
          break;
        }
        expect(',');
      }
    }
    depth--;
    return new JsonValue.Obj(members);
  }

  private JsonValue array() {
    enter();
    List<JsonValue> items = new ArrayList<>();
    space();
    if (peek() == ']') {
      at++;
    } else {
      while (true) {
        items.add(value());
        space();
        if (peek() == ']') {
          at++;
          break;
        }
        expect(',');
      }
    }
    depth--;
    return new JsonValue.Arr(items);
  }

  private void enter() {
    at++;
    if (++depth > limits.depthMax()) {
      throw refuse(CanonicalizeError.TOO_DEEP);
    }
  }

  private JsonValue literal(String word, JsonValue value) {
    for (int i = 0; i < word.length(); i++) {
      expect(word.charAt(i));
    }
    return value;
  }

  private JsonValue number() {
    int start = at;
    if (peek() == '-') {
      at++;
    }
    int first = peek();
    digits();
    if (first == '0' && at - start > (in[start] == '-' ? 2 : 1)) {
      at = start;
      throw refuse(CanonicalizeError.LEADING_ZERO);
    }
    if (at < in.length && in[at] == '.') {
      at++;
      digits();
    }
    if (at < in.length && (in[at] | 0x20) == 'e') {
      at++;
      if (peek() == '+' || peek() == '-') {
        at++;
      }
      digits();
    }
    String literal = new String(in, start, at - start, StandardCharsets.ISO_8859_1);
    double value = Double.parseDouble(literal);
    if (!Double.isFinite(value) || (value == 0 && isNonZero(literal))) {
      at = start;
      throw refuse(CanonicalizeError.NUMBER_RANGE);
    }
    return new JsonValue.Num(value);
  }

  private static boolean isNonZero(String literal) {
    for (int i = 0; i < literal.length(); i++) {
      char c = literal.charAt(i);
      if (c >= '1' && c <= '9') {
        return true;
      }
      if ((c | 0x20) == 'e') {
        return false;
      }
    }
    return false;
  }

  private void digits() {
    int start = at;
    while (at < in.length && in[at] >= '0' && in[at] <= '9') {
      at++;
    }
    if (at == start) {
      throw refuse(at == in.length ? CanonicalizeError.TRUNCATED : CanonicalizeError.SYNTAX);
    }
  }

  private String string() {
    at++;
    StringBuilder text = new StringBuilder();
    while (true) {
      int b = peek();
      if (b == '"') {
        at++;
        return text.toString();
      } else if (b == '\\') {
        at++;
        escape(text);
      } else if (b < 0x20) {
        throw refuse(CanonicalizeError.SYNTAX);
      } else if (b < 0x80) {
        text.append((char) b);
        at++;
      } else {
        text.appendCodePoint(codePoint(b));
      }
    }
  }

  private void escape(StringBuilder text) {
    int b = peek();
    at++;
    switch (b) {
      case '"', '\\', '/' -> text.append((char) b);
      case 'b' -> text.append('\b');
      case 'f' -> text.append('\f');
      case 'n' -> text.append('\n');
      case 'r' -> text.append('\r');
      case 't' -> text.append('\t');
      case 'u' -> {
        char unit = hex4();
        text.append(unit);
        if (Character.isLowSurrogate(unit)) {
          throw refuse(CanonicalizeError.LONE_SURROGATE);
        }
        if (Character.isHighSurrogate(unit)) {
          if (at + 1 >= in.length || in[at] != '\\' || in[at + 1] != 'u') {
            throw refuse(CanonicalizeError.LONE_SURROGATE);
          }
          at += 2;
          char low = hex4();
          if (!Character.isLowSurrogate(low)) {
            throw refuse(CanonicalizeError.LONE_SURROGATE);
          }
          text.append(low);
        }
      }
      default -> {
        at--;
        throw refuse(CanonicalizeError.SYNTAX);
      }
    }
  }

  private char hex4() {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(peek(), 16);
      if (digit < 0) {
        throw refuse(CanonicalizeError.SYNTAX);
      }
      unit = unit << 4 | digit;
      at++;
    }
    return (char) unit;
  }

  /** Decodes one character of two to four bytes by the table of RFC 3629, 4. */
  private int codePoint(int lead) {
    int more = lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : -1;
    if (more < 0 || at + more >= in.length) {
      throw refuse(CanonicalizeError.INVALID_UTF8);
    }
    int code = lead & (0x3F >> more);
    for (int i = 1; i <= more; i++) {
      int b = in[at + i] & 0xFF;
      if ((b & 0xC0) != 0x80) {
        throw refuse(CanonicalizeError.INVALID_UTF8);
      }
      code = code << 6 | (b & 0x3F);
    }
    if (more == 2 && (code < 0x800 || code >= 0xD800 && code < 0xE000)
        || more == 3 && (code < 0x10000 || code > 0x10FFFF)) {
      throw refuse(CanonicalizeError.INVALID_UTF8);
    }
    at += more + 1;
    return code;
  }

  private void space() {
    while (at < in.length
        && (in[at] == ' ' || in[at] == '\n' || in[at] == '\r' || in[at] == '\t')) {
      at++;
    }
  }

  private int peek() {
    if (at >= in.length) {
      throw refuse(CanonicalizeError.TRUNCATED);
    }
    return in[at] & 0xFF;
  }

  private void expect(char wanted) {
    if (peek() != wanted) {
      throw refuse(CanonicalizeError.SYNTAX);
    }
    at++;
  }

  private WritException refuse(CanonicalizeError code) {
    return new WritException(code, "at byte " + at);
  }
}
