package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Writes values in the canonical form of RFC 8785, 3.2, however deep they are. */
final class JsonWriter {
  /** Most of our documents are a little longer; doubling takes over from here. */
  private static final int BYTES_AT_FIRST = 512;

  private static final int LEVELS_AT_FIRST = 8;

  /** Strings of so many characters are copied whole; for shorter ones that takes longer. */
  private static final int COPIED_FROM = 16;

  private final ByteSink out = new ByteSink(ByteSink.MAX);

  /**
   * The open containers, the innermost last: the members of an object or the items of an array.
   * Arrays and not a stack of iterators: every document passes here, and most of an iterator's cost
   * is its entries.
   */
  private Object[] open = new Object[LEVELS_AT_FIRST];

  /** The place in each of them that comes next. */
  private int[] next = new int[LEVELS_AT_FIRST];

  private int depth;
  private int deepest;

  /**
   * @throws WritException {@code CAN-002} where a string or key holds half of a surrogate pair
   */
  byte[] write(JsonValue value) {
    out.room(BYTES_AT_FIRST);
    begin(value);
    while (depth > 0) {
      int top = depth - 1;
      int at = next[top]++;
      if (open[top] instanceof SortedMembers members) {
        if (at == members.size()) {
          end('}');
        } else {
          separate(at);
          string(members.key(at));
          out.put(':');
          begin(members.value(at));
        }
      } else {
        List<?> items = (List<?>) open[top];
        if (at == items.size()) {
          end(']');
        } else {
          separate(at);
          begin((JsonValue) items.get(at));
        }
      }
    }
    return out.toBytes();
  }

  /** How deep what was written is nested. */
  int depth() {
    return deepest;
  }

  private void separate(int at) {
    if (at > 0) {
      out.put(',');
    }
  }

  private void end(char bracket) {
    out.put(bracket);
    open[--depth] = null;
  }

  private void enter(char bracket, Object container) {
    out.put(bracket);
    if (depth == open.length) {
      open = Arrays.copyOf(open, 2 * depth);
      next = Arrays.copyOf(next, 2 * depth);
    }
    open[depth] = container;
    next[depth] = 0;
    depth++;
    deepest = Math.max(deepest, depth);
  }

  /** Writes a scalar, or opens a container. */
  private void begin(JsonValue value) {
    switch (value) {
      case JsonValue.Obj object -> enter('{', SortedMembers.of(object));
      case JsonValue.Arr array -> enter('[', array.items());
      case JsonValue.Str text -> string(text.value());
      case JsonValue.Num number -> {
        byte[] to = out.room(EcmaNumbers.LENGTH_MAX);
        out.advance(EcmaNumbers.write(number.value(), to, out.length()));
      }
      case JsonValue.Bool bool -> word(bool.value() ? "true" : "false");
      case JsonValue.Null _ -> word("null");
    }
  }

  private void word(String word) {
    for (int i = 0; i < word.length(); i++) {
      out.put(word.charAt(i));
    }
  }

  private void string(String text) {
    out.put('"');
    int i = plainPrefix(text);
    while (i < text.length()) {
      int c = text.codePointAt(i);
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        throw new WritException(
            CanonicalizeError.LONE_SURROGATE,
            "U+" + Integer.toHexString(c) + " at UTF-16 unit " + i + " of a string");
      }
      if (c < 0x20 || c == '"' || c == '\\') {
        Escapes.put(c, out);
      } else {
        out.putCodePoint(c);
      }
      i += Character.charCount(c);
    }
    out.put('"');
  }

  /** Writes the ASCII before the first character that needs more than to be copied. */
  private int plainPrefix(String text) {
    int length = text.length();
    byte[] to = out.room(length);
    int from = out.length();
    int i = length < COPIED_FROM ? 0 : copiedPrefix(text, to, from);
    char c;
    while (i < length && (c = text.charAt(i)) >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      to[from + i] = (byte) c;
      i++;
    }
    out.advance(from + i);
    return i;
  }

  /**
   * The same, many bytes at once, up to a question mark: that also stands for what Latin-1 has not.
   */
  private static int copiedPrefix(String text, byte[] to, int from) {
    byte[] latin = text.getBytes(StandardCharsets.ISO_8859_1);
    int end = PlainText.end(latin, 0, '?');
    System.arraycopy(latin, 0, to, from, end);
    return end;
  }
}
