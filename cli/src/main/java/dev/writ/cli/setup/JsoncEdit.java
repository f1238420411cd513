package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Changes one region of a text of JSON with comments; the rest keeps its bytes. */
final class JsoncEdit {
  private static final String EMPTY = "{}\n";

  private final String file;
  private final String text;
  private final JsoncText.ObjectNode root;

  private JsoncEdit(String file, String text) {
    this.file = file;
    this.text = text.isBlank() ? EMPTY : text;
    this.root = JsoncText.read(file, this.text);
  }

  /**
   * @param text nothing counts as an empty object
   * @throws WritException {@code CLI-035} for what is no object of JSON
   */
  static JsoncEdit of(String file, String text) {
    return new JsoncEdit(file, text);
  }

  /** The text of the value of a member, at a path of names. */
  Optional<String> value(List<String> path) {
    return node(path).map(node -> text.substring(node.begin(), node.end()));
  }

  private Optional<JsoncText.Node> node(List<String> path) {
    JsoncText.Node node = root;
    for (String name : path) {
      Optional<JsoncText.Member> member =
          node instanceof JsoncText.ObjectNode object ? object.member(name) : Optional.empty();
      if (member.isEmpty()) {
        return Optional.empty();
      }
      node = member.get().value();
    }
    return Optional.of(node);
  }

  /** The texts of the items of a list; none where there is no such list. */
  List<String> items(List<String> path) {
    return node(path).filter(JsoncText.ListNode.class::isInstance).stream()
        .flatMap(node -> ((JsoncText.ListNode) node).items().stream())
        .map(item -> text.substring(item.begin(), item.end()))
        .toList();
  }

  /**
   * Sets a member; objects on the way that are missing are made.
   *
   * @throws WritException {@code CLI-035} where what is on the way is no object
   */
  String set(List<String> path, JsonValue value) {
    return put(root, 0, path, value);
  }

  private String put(JsoncText.ObjectNode object, int depth, List<String> path, JsonValue value) {
    String name = path.getFirst();
    List<String> rest = path.subList(1, path.size());
    Optional<JsoncText.Member> member = object.member(name);
    if (member.isEmpty()) {
      JsonValue wrapped = value;
      for (String outer : rest.reversed()) {
        wrapped = JsonValue.object().put(outer, wrapped).build();
      }
      return inserted(
          object.begin(),
          object.end(),
          object.members().isEmpty() ? -1 : object.members().getLast().end(),
          depth,
          quoted(name) + ": ",
          wrapped);
    }
    JsoncText.Node below = member.get().value();
    if (rest.isEmpty()) {
      return text.substring(0, below.begin())
          + written(value, indent(member.get().begin()))
          + text.substring(below.end());
    }
    if (below instanceof JsoncText.ObjectNode next) {
      return put(next, depth + 1, rest, value);
    }
    throw new WritException(CliError.SETUP_FILE, file + ": " + name + " is no object");
  }

  /**
   * Adds an item at the end of a list, which is made where it is missing.
   *
   * @throws WritException {@code CLI-035} where there is something else than a list
   */
  String add(List<String> path, JsonValue item) {
    Optional<JsoncText.Node> there = node(path);
    if (there.isEmpty()) {
      return set(path, JsonValue.of(List.of(item)));
    }
    if (there.get() instanceof JsoncText.ListNode list) {
      return inserted(
          list.begin(),
          list.end(),
          list.items().isEmpty() ? -1 : list.items().getLast().end(),
          path.size(),
          "",
          item);
    }
    throw new WritException(
        CliError.SETUP_FILE, file + ": " + String.join("/", path) + " is no list");
  }

  /** Replaces the items that are meant by one, at the place of the first. */
  String replace(List<String> path, Predicate<String> meant, JsonValue item) {
    for (JsoncText.Node node : ((JsoncText.ListNode) node(path).orElseThrow()).items()) {
      if (meant.test(text.substring(node.begin(), node.end()))) {
        return text.substring(0, node.begin())
            + written(item, indent(node.begin()))
            + text.substring(node.end());
      }
    }
    return text;
  }

  /** Takes a member out; objects that it leaves empty stay. */
  String remove(List<String> path) {
    Optional<JsoncText.Node> holder = node(path.subList(0, path.size() - 1));
    if (holder.isPresent() && holder.get() instanceof JsoncText.ObjectNode object) {
      int before = object.begin() + 1;
      for (JsoncText.Member member : object.members()) {
        if (member.name().equals(path.getLast())) {
          return without(before, member.begin(), member.end());
        }
        before = member.end();
      }
    }
    return text;
  }

  /** Takes the first item out that is meant. */
  String remove(List<String> path, Predicate<String> meant) {
    Optional<JsoncText.Node> list = node(path);
    if (list.isPresent() && list.get() instanceof JsoncText.ListNode items) {
      int before = items.begin() + 1;
      for (JsoncText.Node item : items.items()) {
        if (meant.test(text.substring(item.begin(), item.end()))) {
          return without(before, item.begin(), item.end());
        }
        before = item.end();
      }
    }
    return text;
  }

  /**
   * With one comma: the one behind it, or else the one before.
   *
   * @param before behind the value before it, or behind the opening bracket
   */
  private String without(int before, int begin, int end) {
    int from = begin;
    while (from > before && Character.isWhitespace(text.charAt(from - 1))) {
      from--;
    }
    int behind = comma(end, text.length());
    if (behind >= 0) {
      return text.substring(0, from) + text.substring(end, behind) + text.substring(behind + 1);
    }
    int comma = comma(before, from);
    return comma < 0
        ? text.substring(0, from) + text.substring(end)
        : text.substring(0, comma) + text.substring(comma + 1, from) + text.substring(end);
  }

  /** Where a comma stands, behind nothing but blanks and comments; negative where none does. */
  private int comma(int from, int to) {
    int at = from;
    while (at < to) {
      if (text.startsWith("//", at)) {
        at = text.indexOf('\n', at);
        if (at < 0) {
          return -1;
        }
      } else if (text.startsWith("/*", at)) {
        at = text.indexOf("*/", at) + 2;
      } else if (Character.isWhitespace(text.charAt(at))) {
        at++;
      } else {
        return text.charAt(at) == ',' ? at : -1;
      }
    }
    return -1;
  }

  /**
   * Inserts before the closing bracket, with the comma directly behind the value before, so that
   * comments keep their places.
   *
   * @param last behind the last value; negative in an empty one
   */
  private String inserted(int open, int end, int last, int depth, String name, JsonValue value) {
    int close = end - 1;
    int place = close;
    while (place > open + 1 && Character.isWhitespace(text.charAt(place - 1))) {
      place--;
    }
    boolean empty = last < 0;
    boolean lines = empty || text.substring(open, close).indexOf('\n') >= 0;
    boolean comma = !empty && comma(last, close) < 0;
    String outer = indent(open);
    String inner = empty ? outer + unit() : lines ? indentOfFirst(open, outer) : "";
    StringBuilder out = new StringBuilder(text.substring(0, empty ? place : last));
    if (comma) {
      out.append(',');
    }
    if (!empty) {
      out.append(text, last, place);
    }
    out.append(lines ? eol() + inner : " ").append(name).append(written(value, inner));
    if (empty && place == close || lines && place == close) {
      out.append(eol()).append(outer);
    }
    return out.append(text.substring(place)).toString();
  }

  private String indentOfFirst(int open, String outer) {
    int at = open + 1;
    int line = text.indexOf('\n', at);
    while (line >= 0) {
      int from = line + 1;
      int to = from;
      while (to < text.length() && (text.charAt(to) == ' ' || text.charAt(to) == '\t')) {
        to++;
      }
      if (to < text.length() && text.charAt(to) != '\r' && text.charAt(to) != '\n') {
        return text.charAt(to) == '}' || text.charAt(to) == ']'
            ? outer + unit()
            : text.substring(from, to);
      }
      line = text.indexOf('\n', from);
    }
    return outer + unit();
  }

  /** The blanks at the beginning of the line of a place. */
  private String indent(int place) {
    int begin = text.lastIndexOf('\n', Math.max(0, place - 1)) + 1;
    int end = begin;
    while (end < place && (text.charAt(end) == ' ' || text.charAt(end) == '\t')) {
      end++;
    }
    return text.substring(begin, end);
  }

  /** What the file indents by: its first indented line; two blanks where there is none. */
  private String unit() {
    return text.lines()
        .filter(line -> !line.isBlank() && Character.isWhitespace(line.charAt(0)))
        .filter(line -> !line.strip().startsWith("*"))
        .findFirst()
        .map(line -> line.substring(0, line.length() - line.stripLeading().length()))
        .orElse("  ");
  }

  private String eol() {
    int line = text.indexOf('\n');
    return line > 0 && text.charAt(line - 1) == '\r' ? "\r\n" : "\n";
  }

  private String written(JsonValue value, String indent) {
    return switch (value) {
      case JsonValue.Obj object when !object.members().isEmpty() -> {
        List<String> members = new ArrayList<>();
        object
            .members()
            .forEach((name, member) ->
                members.add(
                    indent + unit() + quoted(name) + ": " + written(member, indent + unit())));
        yield "{" + eol() + String.join("," + eol(), members) + eol() + indent + "}";
      }
      case JsonValue.Arr list
          when list.items().stream().anyMatch(JsonValue.Obj.class::isInstance) -> {
        List<String> items =
            list.items().stream()
                .map(item -> indent + unit() + written(item, indent + unit()))
                .toList();
        yield "[" + eol() + String.join("," + eol(), items) + eol() + indent + "]";
      }
      case JsonValue.Arr list ->
          "["
              + String.join(", ", list.items().stream().map(i -> written(i, indent)).toList())
              + "]";
      default -> new String(Jcs.write(value), StandardCharsets.UTF_8);
    };
  }

  private static String quoted(String name) {
    return new String(Jcs.write(JsonValue.of(name)), StandardCharsets.UTF_8);
  }
}
