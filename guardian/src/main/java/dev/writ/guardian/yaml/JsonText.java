package dev.writ.guardian.yaml;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * Reads JSON and keeps the place of everything. The YAML parser refuses some JSON that YAML allows
 * (a tab before a brace, a line end before a colon), so JSON files are read by this class.
 */
final class JsonText {
  private final String text;
  private final Reader reader;
  private int at;
  private int line = 1;
  private int column = 1;

  /** Builds values and checks the limits of a file. */
  interface Reader {
    /** A value begins. */
    void enter(Located.Place at, int depth);

    /** A number, if it is one that a file may have. */
    JsonValue number(String text, Located.Place at);
  }

  private JsonText(String text, Reader reader) {
    this.text = text;
    this.reader = reader;
  }

  /** Empty if the bytes are not JSON, or JSON with a duplicate key. */
  static Optional<Located> read(byte[] bytes, String text, Reader reader) {
    String start = text.stripLeading();
    if (!start.startsWith("{") && !start.startsWith("[")) {
      return Optional.empty();
    }
    try {
      Jcs.parse(bytes);
    } catch (WritException notJson) {
      return Optional.empty();
    }
    return Optional.of(new JsonText(text, reader).value(0));
  }

  private Located value(int depth) {
    Located.Place place = place();
    reader.enter(place, depth);
    return switch (peek()) {
      case '{' -> object(place, depth);
      case '[' -> array(place, depth);
      case '"' -> new Located.Scalar(place, JsonValue.of(string()));
      case 't' -> word(place, "true", JsonValue.of(true));
      case 'f' -> word(place, "false", JsonValue.of(false));
      case 'n' -> word(place, "null", JsonValue.NULL);
      default -> number(place);
    };
  }

  private Located object(Located.Place place, int depth) {
    LinkedHashMap<String, Located.Member> members = new LinkedHashMap<>();
    take(1);
    while (peek() != '}') {
      Located.Place keyAt = place();
      reader.enter(keyAt, depth + 1);
      String key = string();
      peek();
      take(1); // the colon
      members.put(key, new Located.Member(keyAt, value(depth + 1)));
      if (peek() == ',') {
        take(1);
      }
    }
    take(1);
    return new Located.Map(place, members);
  }

  private Located array(Located.Place place, int depth) {
    List<Located> items = new ArrayList<>();
    take(1);
    while (peek() != ']') {
      items.add(value(depth + 1));
      if (peek() == ',') {
        take(1);
      }
    }
    take(1);
    return new Located.Seq(place, List.copyOf(items));
  }

  private String string() {
    int end = at + 1;
    while (text.charAt(end) != '"') {
      end += text.charAt(end) == '\\' ? 2 : 1;
    }
    String token = text.substring(at, end + 1);
    take(token.length());
    return ((JsonValue.Str) Jcs.parse(token.getBytes(StandardCharsets.UTF_8))).value();
  }

  private Located word(Located.Place place, String word, JsonValue value) {
    take(word.length());
    return new Located.Scalar(place, value);
  }

  private Located number(Located.Place place) {
    int end = at;
    while (end < text.length() && "+-.0123456789Ee".indexOf(text.charAt(end)) >= 0) {
      end++;
    }
    String token = text.substring(at, end);
    take(token.length());
    return new Located.Scalar(place, reader.number(token, place));
  }

  private Located.Place place() {
    peek();
    return new Located.Place(line, column);
  }

  /** The next character that is no white space. */
  private char peek() {
    while (" \t\r\n".indexOf(text.charAt(at)) >= 0) {
      take(1);
    }
    return text.charAt(at);
  }

  /** Lines and columns are counted as the YAML parser counts them: in code points. */
  private void take(int count) {
    for (int i = 0; i < count; i++, at++) {
      char c = text.charAt(at);
      boolean ends = c == '\n' || (c == '\r' && !text.startsWith("\n", at + 1));
      line += ends ? 1 : 0;
      column = ends ? 1 : column + (Character.isLowSurrogate(c) ? 0 : 1);
    }
  }
}
