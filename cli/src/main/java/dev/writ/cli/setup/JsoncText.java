package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A text of JSON with comments and trailing commas, as editors write it, with the places of its
 * values: what is changed is a region, everything else stays as it is.
 */
final class JsoncText {
  private static final int DEPTH_MAX = 64;

  /** A value with its place: from its first character to behind its last. */
  sealed interface Node {
    int begin();

    int end();
  }

  /** An object. */
  record ObjectNode(int begin, int end, List<Member> members) implements Node {
    Optional<Member> member(String name) {
      return members.stream().filter(member -> member.name.equals(name)).findFirst();
    }
  }

  /** A list. */
  record ListNode(int begin, int end, List<Node> items) implements Node {}

  /** A string, read. */
  record TextNode(int begin, int end, String value) implements Node {}

  /** A number, true, false or null. */
  record WordNode(int begin, int end) implements Node {}

  /** A member of an object; it begins with its name. */
  record Member(int begin, String name, Node value) {
    int end() {
      return value.end();
    }
  }

  private final String file;
  private final String text;
  private int at;

  private JsoncText(String file, String text) {
    this.file = file;
    this.text = text;
  }

  /**
   * Reads a text whose value is an object.
   *
   * @throws WritException {@code CLI-035}
   */
  static ObjectNode read(String file, String text) {
    JsoncText reader = new JsoncText(file, text);
    if (text.startsWith("\uFEFF")) {
      reader.at = 1;
    }
    reader.blanks();
    Node root = reader.value(0);
    reader.blanks();
    if (reader.at != text.length()) {
      throw reader.refused("something behind its value");
    }
    if (root instanceof ObjectNode object) {
      return object;
    }
    throw reader.refused("its value is no object");
  }

  private WritException refused(String what) {
    long line = text.substring(0, Math.min(at, text.length())).lines().count();
    return new WritException(
        CliError.SETUP_FILE, file + " line " + Math.max(1, line) + ": " + what);
  }

  private char here() {
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private void blanks() {
    while (at < text.length()) {
      char c = here();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        at++;
      } else if (text.startsWith("//", at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (text.startsWith("/*", at)) {
        int end = text.indexOf("*/", at + 2);
        if (end < 0) {
          throw refused("a comment that does not end");
        }
        at = end + 2;
      } else {
        return;
      }
    }
  }

  private Node value(int depth) {
    if (depth > DEPTH_MAX) {
      throw refused("nested too deeply");
    }
    return switch (here()) {
      case '{' -> object(depth);
      case '[' -> list(depth);
      case '"' -> {
        int begin = at;
        String value = string();
        yield new TextNode(begin, at, value);
      }
      default -> word();
    };
  }

  private ObjectNode object(int depth) {
    int begin = at++;
    List<Member> members = new ArrayList<>();
    TreeSet<String> names = new TreeSet<>();
    blanks();
    while (here() != '}') {
      int from = at;
      if (here() != '"') {
        throw refused("a member without a name");
      }
      String name = string();
      if (!names.add(name)) {
        throw refused("a name twice: \"" + name + "\"");
      }
      blanks();
      expect(':');
      blanks();
      members.add(new Member(from, name, value(depth + 1)));
      separator('}');
    }
    at++;
    return new ObjectNode(begin, at, List.copyOf(members));
  }

  private ListNode list(int depth) {
    int begin = at++;
    List<Node> items = new ArrayList<>();
    blanks();
    while (here() != ']') {
      items.add(value(depth + 1));
      separator(']');
    }
    at++;
    return new ListNode(begin, at, List.copyOf(items));
  }

  /** A comma, also before the end, or the end. */
  private void separator(char end) {
    blanks();
    if (here() == ',') {
      at++;
      blanks();
    } else if (here() != end) {
      throw refused("neither a comma nor " + end);
    }
  }

  private void expect(char c) {
    if (here() != c) {
      throw refused("no " + c);
    }
    at++;
  }

  private String string() {
    StringBuilder value = new StringBuilder();
    at++;
    while (here() != '"') {
      char c = here();
      if (c < 0x20) {
        throw refused("a text that does not end in its line");
      }
      at++;
      value.append(c == '\\' ? escape() : c);
    }
    at++;
    return value.toString();
  }

  private char escape() {
    char c = here();
    at++;
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        String hex = text.substring(at, Math.min(at + 4, text.length()));
        if (!hex.matches("[0-9A-Fa-f]{4}")) {
          throw refused("an escape that is none");
        }
        at += 4;
        yield (char) Integer.parseInt(hex, 16);
      }
      default -> throw refused("an escape that is none");
    };
  }

  private WordNode word() {
    int begin = at;
    while (Character.isLetterOrDigit(here()) || "+-.".indexOf(here()) >= 0) {
      at++;
    }
    if (!text.substring(begin, at)
        .matches("true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
      throw refused("no value");
    }
    return new WordNode(begin, at);
  }
}
