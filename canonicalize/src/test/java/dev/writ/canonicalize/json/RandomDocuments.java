package dev.writ.canonicalize.json;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TreeSet;

/**
 * Valid JSON texts in every spelling: spaces, escapes, key orders, number forms, all of Unicode.
 */
final class RandomDocuments {
  private static final String SHORT = "\"\\/\b\f\n\r\t";
  private static final String LETTERS = "\"\\/bfnrt";

  private final Random random;
  private final StringBuilder out = new StringBuilder();

  /** One in so many gaps has white space; 0 for none. */
  private final int spaces;

  private RandomDocuments(Random random) {
    this.random = random;
    this.spaces = random.nextInt(4);
  }

  static byte[] next(Random random) {
    RandomDocuments document = new RandomDocuments(random);
    document.value(1 + random.nextInt(5));
    return document.out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void value(int depth) {
    space();
    switch (depth == 0 ? random.nextInt(4) : random.nextInt(9)) {
      case 0 -> string(text());
      case 1, 2 -> out.append(RandomNumbers.literal(random));
      case 3 -> out.append(List.of("true", "false", "null").get(random.nextInt(3)));
      case 4, 5 -> array(depth - 1);
      default -> object(depth - 1);
    }
    space();
  }

  private void array(int depth) {
    out.append('[');
    int count = random.nextInt(6);
    for (int i = 0; i < count; i++) {
      out.append(i > 0 ? "," : "");
      value(depth);
    }
    out.append(count == 0 ? spaceText() : "").append(']');
  }

  private void object(int depth) {
    TreeSet<String> keys = new TreeSet<>();
    for (int n = random.nextInt(random.nextInt(12) == 0 ? 40 : 6); n > 0; n--) {
      keys.add(text());
    }
    List<String> order = new ArrayList<>(keys);
    if (random.nextInt(3) > 0) {
      Collections.shuffle(order, random);
    }
    out.append('{');
    String separator = spaceText();
    for (String key : order) {
      out.append(separator);
      space();
      string(key);
      space();
      out.append(':');
      value(depth);
      separator = ",";
    }
    out.append(order.isEmpty() ? separator : "").append('}');
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    int kind = random.nextInt(4);
    for (int n = random.nextInt(random.nextInt(8) == 0 ? 40 : 5); n > 0; n--) {
      text.appendCodePoint(kind == 0 ? anyChar() : kind == 1 ? oddChar() : 'a' + random.nextInt(4));
    }
    return text.toString();
  }

  private int anyChar() {
    while (true) {
      int c = random.nextInt(0x110000) >> random.nextInt(21);
      if (c < 0xD800 || c > 0xDFFF) {
        return c;
      }
    }
  }

  /** Where encodings and orders change: the ends of ASCII, of two bytes, around the surrogates. */
  private int oddChar() {
    int[] edges = {
      0, 0x1F, 0x20, '"', '\\', '/', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFB33, 0xFFFD,
      0xFFFF, 0x10000, 0x1F600, 0x10FFFF, 0x2028, '\n', 0xE9
    };
    return edges[random.nextInt(edges.length)];
  }

  private void string(String text) {
    out.append('"');
    int escapes = random.nextInt(5);
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      int shortForm = SHORT.indexOf(c);
      if (c >= 0x20 && c != '"' && c != '\\' && random.nextInt(10) >= escapes) {
        out.appendCodePoint(c);
      } else if (shortForm >= 0 && random.nextBoolean()) {
        out.append('\\').append(LETTERS.charAt(shortForm));
      } else {
        for (char unit : Character.toChars(c)) {
          String hex = HexFormat.of().toHexDigits(unit);
          out.append("\\u").append(random.nextBoolean() ? hex : hex.toUpperCase(Locale.ROOT));
        }
      }
    }
    out.append('"');
  }

  private void space() {
    out.append(spaceText());
  }

  private String spaceText() {
    if (spaces == 0 || random.nextInt(spaces) > 0) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    for (int n = random.nextInt(4); n > 0; n--) {
      text.append(" \n\r\t".charAt(random.nextInt(4)));
    }
    return text.toString();
  }
}
