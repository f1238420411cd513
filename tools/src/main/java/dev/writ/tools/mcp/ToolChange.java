package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A difference between what was approved and what a server lists now.
 *
 * @param name of a tool; of a prompt or a template with that word before it
 * @param before absent for what appeared
 * @param after absent for what vanished
 */
public record ToolChange(
    String name, Optional<? extends Listed> before, Optional<? extends Listed> after) {

  /** {@code new}, {@code gone} or {@code changed}. */
  public String kind() {
    return before.isEmpty() ? "new" : after.isEmpty() ? "gone" : "changed";
  }

  /** The difference for people, line by line: {@code - old} and {@code + new}, all visible. */
  public List<String> lines() {
    TreeMap<String, String> old = flat(before);
    TreeMap<String, String> now = flat(after);
    TreeSet<String> places = new TreeSet<>(old.keySet());
    places.addAll(now.keySet());
    List<String> lines = new ArrayList<>();
    for (String place : places) {
      String was = old.get(place);
      String is = now.get(place);
      if (was == null || !was.equals(is)) {
        if (was != null) {
          lines.add("- " + place + " " + was);
        }
        if (is != null) {
          lines.add("+ " + place + " " + is);
        }
      }
    }
    return lines;
  }

  private static TreeMap<String, String> flat(Optional<? extends Listed> tool) {
    TreeMap<String, String> places = new TreeMap<>();
    tool.ifPresent(one -> one.toJson().members().forEach((key, v) -> flatten(key, v, places)));
    return places;
  }

  private static void flatten(String place, JsonValue value, TreeMap<String, String> places) {
    if (value instanceof JsonValue.Obj object && !object.members().isEmpty()) {
      object.members().forEach((key, below) -> flatten(place + "/" + key, below, places));
    } else {
      places.put(visible(place), visible(new String(Jcs.write(value), StandardCharsets.UTF_8)));
    }
  }

  /**
   * A text in which every character can be seen: others, such as those that turn the direction of
   * writing or have no width, are written as a backslash, a u and their number in braces.
   */
  public static String visible(String text) {
    StringBuilder shown = new StringBuilder();
    text.codePoints()
        .forEach(c -> {
          if (isHidden(c)) {
            shown
                .append("\\u{")
                .append(Integer.toHexString(c).toUpperCase(Locale.ROOT))
                .append('}');
          } else {
            shown.appendCodePoint(c);
          }
        });
    return shown.toString();
  }

  /** Whether a character cannot be seen, and is no line end or tab. */
  public static boolean isHidden(int c) {
    if (c == '\n' || c == '\t' || c == '\r') {
      return false;
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      case Character.SPACE_SEPARATOR -> c != ' ';
      default ->
          c >= 0xFE00 && c <= 0xFE0F // variation selectors carry data unseen
              || c >= 0xE0100 && c <= 0xE01EF
              || c == 0x115F
              || c == 0x1160
              || c == 0x3164
              || c == 0xFFA0;
    };
  }
}
