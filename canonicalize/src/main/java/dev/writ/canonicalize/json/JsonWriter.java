package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Map;

/** Writes values in the canonical form of RFC 8785, 3.2, however deep they are. */
final class JsonWriter {
  /** Most of our documents are a little longer; doubling takes over from here. */
  private static final int BYTES_AT_FIRST = 512;

  private final ByteSink out = new ByteSink(ByteSink.MAX);

  /** An open container: one of the two is null. */
  private record Open(Iterator<Map.Entry<String, JsonValue>> members, Iterator<JsonValue> items) {

    boolean hasNext() {
      return members != null ? members.hasNext() : items.hasNext();
    }
  }

  /**
   * @throws WritException {@code CAN-002} where a string or key holds half of a surrogate pair
   */
  byte[] write(JsonValue value) {
    out.room(BYTES_AT_FIRST);
    ArrayDeque<Open> open = new ArrayDeque<>();
    begin(value, open);
    boolean first = value instanceof JsonValue.Obj || value instanceof JsonValue.Arr;
    while (!open.isEmpty()) {
      Open top = open.peek();
      if (!top.hasNext()) {
        open.pop();
        out.put(top.members != null ? '}' : ']');
        first = false;
        continue;
      }
      if (!first) {
        out.put(',');
      }
      JsonValue next;
      if (top.members != null) {
        Map.Entry<String, JsonValue> member = top.members.next();
        string(member.getKey());
        out.put(':');
        next = member.getValue();
      } else {
        next = top.items.next();
      }
      first = begin(next, open);
    }
    return out.toBytes();
  }

  /** Writes a scalar, or opens a container and returns true. */
  private boolean begin(JsonValue value, ArrayDeque<Open> open) {
    switch (value) {
      case JsonValue.Obj object -> {
        out.put('{');
        open.push(new Open(object.members().entrySet().iterator(), null));
        return true;
      }
      case JsonValue.Arr array -> {
        out.put('[');
        open.push(new Open(null, array.items().iterator()));
        return true;
      }
      case JsonValue.Str text -> string(text.value());
      case JsonValue.Num number -> {
        byte[] to = out.room(EcmaNumbers.LENGTH_MAX);
        out.advance(EcmaNumbers.write(number.value(), to, out.length()));
      }
      case JsonValue.Bool bool -> word(bool.value() ? "true" : "false");
      case JsonValue.Null _ -> word("null");
    }
    return false;
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
    int at = out.length();
    int i = 0;
    char c;
    while (i < length && (c = text.charAt(i)) >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      to[at++] = (byte) c;
      i++;
    }
    out.advance(at);
    return i;
  }
}
