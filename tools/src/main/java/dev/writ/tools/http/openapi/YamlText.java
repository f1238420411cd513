package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes YAML for people: mappings and lists in blocks, short ones in a line. */
final class YamlText {
  private static final int LINE_CHARS = 90;

  /** Words that YAML, of some version, does not read as text. */
  private static final List<String> WORDS =
      List.of("true", "false", "null", "yes", "no", "on", "off", "y", "n", "~");

  /** What readers of YAML refuse, and people cannot see. */
  private static final Pattern UNSEEN =
      Pattern.compile("[\\x7f-\\u009f\\u00a0\\p{Zl}\\p{Zp}\\ufeff\\ufffe\\uffff]");

  private final StringBuilder out = new StringBuilder();

  void comment(String text) {
    out.append("# ").append(text).append('\n');
  }

  /** A key whose members follow, one level deeper. */
  void section(int level, String key) {
    indent(level).append(scalar(JsonValue.of(key))).append(":\n");
  }

  void member(int level, String key, JsonValue value) {
    indent(level).append(scalar(JsonValue.of(key))).append(':');
    below(level, value);
  }

  private StringBuilder indent(int level) {
    return out.append("  ".repeat(level));
  }

  private void below(int level, JsonValue value) {
    String flow = flow(value);
    boolean leaf = !(value instanceof JsonValue.Obj) && !(value instanceof JsonValue.Arr);
    if (leaf || flow.length() + 2 * level <= LINE_CHARS) {
      out.append(' ').append(flow).append('\n');
      return;
    }
    out.append('\n');
    if (value instanceof JsonValue.Obj object) {
      object.members().forEach((key, member) -> member(level + 1, key, member));
    } else if (value instanceof JsonValue.Arr list) {
      for (JsonValue item : list.items()) {
        indent(level + 1).append("-");
        below(level + 1, item);
      }
    }
  }

  private static String flow(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object when object.members().isEmpty() -> "{}";
      case JsonValue.Obj object ->
          "{ "
              + String.join(
                  ", ",
                  object.members().entrySet().stream()
                      .map(e -> scalar(JsonValue.of(e.getKey())) + ": " + flow(e.getValue()))
                      .toList())
              + " }";
      case JsonValue.Arr list ->
          "[" + String.join(", ", list.items().stream().map(YamlText::flow).toList()) + "]";
      default -> scalar(value);
    };
  }

  /** JSON is YAML; text without anything special stands without quotes. */
  private static String scalar(JsonValue value) {
    if (value instanceof JsonValue.Str text
        && text.value().matches("[A-Za-z_/][A-Za-z0-9_./-]{0,80}")
        && !WORDS.contains(text.value().toLowerCase(Locale.ROOT))) {
      return text.value();
    }
    String json = new String(Jcs.write(value), StandardCharsets.UTF_8);
    return UNSEEN
        .matcher(json)
        .replaceAll(unseen ->
            Matcher.quoteReplacement(
                String.format(Locale.ROOT, "\\u%04x", (int) unseen.group().charAt(0))));
  }

  String text() {
    return out.toString();
  }
}
