package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes a document as YAML for people: short values on one line, comments above them. */
public final class PolicyText {
  private static final int WIDTH = 120;
  private static final Pattern PLAIN =
      Pattern.compile("(?!(?:true|false|null)$)[A-Za-z_][A-Za-z0-9_./-]*");

  /** The order in which people read a policy; what is not here comes after, by name. */
  private static final List<String> FIRST =
      List.of(
          "writ_policy",
          "writ_policy_cases",
          "name",
          "version",
          "mode",
          "limits",
          "principals",
          "tenant",
          "subject",
          "roles",
          "tools",
          "tool",
          "operation",
          "package",
          "budgets",
          "prices",
          "temporal",
          "requirements",
          "approvers",
          "request",
          "state",
          "effect",
          "match",
          "scope",
          "unit",
          "limit",
          "role",
          "count");

  private final SortedMap<String, String> comments;
  private final StringBuilder text = new StringBuilder();

  private PolicyText(SortedMap<String, String> comments) {
    this.comments = comments;
  }

  /** Without comments. */
  public static String of(JsonValue.Obj document) {
    return write(document, new TreeMap<>());
  }

  /**
   * @param comments by the JSON Pointer of what they are about, for members and items
   */
  static String write(JsonValue.Obj document, SortedMap<String, String> comments) {
    PolicyText writer = new PolicyText(comments);
    keys(document).forEach(key -> writer.member(key, document.get(key), 0, "/" + key));
    return writer.text.toString();
  }

  private static List<String> keys(JsonValue.Obj object) {
    List<String> keys = new ArrayList<>(FIRST);
    keys.retainAll(object.members().keySet());
    object.members().keySet().stream().filter(key -> !FIRST.contains(key)).forEach(keys::add);
    return keys;
  }

  private void member(String key, JsonValue value, int indent, String pointer) {
    comment(pointer, indent);
    String start = " ".repeat(indent) + scalar(key) + ":";
    String flow = flow(value);
    if (start.length() + flow.length() < WIDTH && !commented(pointer) || isLeaf(value)) {
      text.append(start).append(' ').append(flow).append('\n');
      return;
    }
    text.append(start).append('\n');
    block(value, indent + 2, pointer);
  }

  private void block(JsonValue value, int indent, String pointer) {
    switch (value) {
      case JsonValue.Obj object ->
          keys(object).forEach(key -> member(key, object.get(key), indent, pointer + "/" + key));
      case JsonValue.Arr array -> {
        for (int i = 0; i < array.items().size(); i++) {
          item(array.items().get(i), indent, pointer + "/" + i);
        }
      }
      default -> throw new IllegalStateException("a leaf is no block");
    }
  }

  private void item(JsonValue value, int indent, String pointer) {
    comment(pointer, indent);
    String flow = flow(value);
    if (indent + 2 + flow.length() < WIDTH || isLeaf(value)) {
      text.append(" ".repeat(indent)).append("- ").append(flow).append('\n');
      return;
    }
    int start = text.length();
    block(value, indent + 2, pointer);
    text.setCharAt(start + indent, '-');
  }

  private void comment(String pointer, int indent) {
    String comment = comments.get(pointer);
    if (comment != null) {
      text.append(" ".repeat(indent)).append("# ").append(comment).append('\n');
    }
  }

  /** Whether something below a place has a comment. */
  private boolean commented(String pointer) {
    return comments.keySet().stream().anyMatch(place -> place.startsWith(pointer + "/"));
  }

  private static boolean isLeaf(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> object.members().isEmpty();
      case JsonValue.Arr array -> array.items().isEmpty();
      default -> true;
    };
  }

  private static String flow(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object ->
          object.members().isEmpty() ? "{}" : "{ " + members(object) + " }";
      case JsonValue.Arr array -> "[" + flow(array.items()) + "]";
      case JsonValue.Str string -> scalar(string.value());
      default -> new String(Jcs.write(value), StandardCharsets.UTF_8);
    };
  }

  private static String members(JsonValue.Obj object) {
    return keys(object).stream()
        .map(key -> scalar(key) + ": " + flow(object.get(key)))
        .collect(Collectors.joining(", "));
  }

  private static String flow(Collection<JsonValue> items) {
    String all = items.stream().map(PolicyText::flow).collect(Collectors.joining(", "));
    return all.startsWith("{") ? " " + all + " " : all;
  }

  /** In single quotes where that spares escapes, as in expressions. */
  private static String scalar(String value) {
    if (PLAIN.matcher(value).matches()) {
      return value;
    }
    boolean shown = value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    return shown && (value.contains("\"") || value.contains("\\"))
        ? "'" + value.replace("'", "''") + "'"
        : ascii(value);
  }

  /** As JSON writes it, with escapes for all but ASCII. */
  private static String ascii(String value) {
    StringBuilder escaped = new StringBuilder();
    new String(Jcs.write(JsonValue.of(value)), StandardCharsets.UTF_8)
        .codePoints()
        .forEach(c ->
            escaped.append(
                c < 0x7f
                    ? Character.toString(c)
                    : String.format(Locale.ROOT, c > 0xffff ? "\\U%08x" : "\\u%04x", c)));
    return escaped.toString();
  }
}
