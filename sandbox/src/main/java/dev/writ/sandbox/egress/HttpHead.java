package dev.writ.sandbox.egress;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The head of a message (RFC 9112), read strictly: lines end with CRLF, names are tokens that touch
 * their colon, no line is folded, and there are no control characters. A head that two parsers
 * could read differently is refused, so that no request can be smuggled.
 *
 * @param first the request line or the status line, in ISO 8859-1
 * @param fields in their order
 */
record HttpHead(String first, List<Field> fields) {
  private static final int MOST_FIELDS = 200;

  /**
   * @param name in lower case
   * @param value without the space around it
   */
  record Field(String name, String value) {}

  HttpHead {
    fields = List.copyOf(fields);
  }

  /**
   * Reads up to and including the empty line, and nothing after it.
   *
   * @throws EOFException where the stream ends before
   */
  static HttpHead read(InputStream in, int most) throws IOException {
    int[] left = {most};
    String first = line(in, left);
    if (first.isEmpty()) {
      throw new Malformed("no first line");
    }
    List<Field> fields = new ArrayList<>();
    for (String line = line(in, left); !line.isEmpty(); line = line(in, left)) {
      if (fields.size() == MOST_FIELDS) {
        throw new Malformed("more than " + MOST_FIELDS + " header lines");
      }
      fields.add(field(line));
    }
    return new HttpHead(first, fields);
  }

  /** One line without its CRLF. */
  static String line(InputStream in, int[] left) throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      int b = next(in, left);
      if (b == '\r') {
        if (next(in, left) != '\n') {
          throw new Malformed("a CR without LF");
        }
        return line.toString();
      }
      if (b < 0x20 && b != '\t' || b == 0x7f) {
        throw new Malformed("a control character in the head");
      }
      line.append((char) b);
    }
  }

  private static int next(InputStream in, int[] left) throws IOException {
    if (left[0]-- <= 0) {
      throw new Malformed("a head that is too long");
    }
    int b = in.read();
    if (b < 0) {
      throw new EOFException("the stream ends within a head");
    }
    return b;
  }

  private static Field field(String line) throws Malformed {
    int colon = line.indexOf(':');
    if (colon < 1 || !line.substring(0, colon).matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
      throw new Malformed("a header line");
    }
    String value = line.substring(colon + 1).replaceAll("^[ \t]+|[ \t]+$", "");
    return new Field(line.substring(0, colon).toLowerCase(Locale.ROOT), value);
  }

  boolean has(String name) {
    return fields.stream().anyMatch(f -> f.name().equals(name));
  }

  /** The value of a field that may occur at most once. */
  Optional<String> one(String name) throws Malformed {
    List<String> all =
        fields.stream().filter(f -> f.name().equals(name)).map(Field::value).toList();
    if (all.size() > 1) {
      throw new Malformed(name + " stands " + all.size() + " times");
    }
    return all.stream().findFirst();
  }
}
