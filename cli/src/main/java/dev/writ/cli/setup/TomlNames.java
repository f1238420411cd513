package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * The names that a text of TOML 1.0 defines: headers of tables, and keys below them. Values are
 * skipped, but for where they end; what cannot be followed is refused.
 */
final class TomlNames {
  private final String file;
  private final String text;
  private final TreeSet<String> defined = new TreeSet<>();
  private int at;

  private TomlNames(String file, String text) {
    this.file = file;
    this.text = text;
  }

  /**
   * @throws WritException {@code CLI-035}
   */
  static TomlNames of(String file, String text) {
    TomlNames names = new TomlNames(file, text);
    names.read();
    return names;
  }

  /** Whether the table, something in it, or something in its place is defined. */
  boolean defines(List<String> table) {
    String wanted = path(table);
    String inline = path(table.subList(0, table.size() - 1)) + "=";
    return defined.stream().anyMatch(name -> name.startsWith(wanted) || name.equals(inline));
  }

  private static String path(List<String> parts) {
    StringBuilder out = new StringBuilder();
    parts.forEach(part -> out.append(part).append('\u0000'));
    return out.toString();
  }

  private WritException refused(String what) {
    long line = text.substring(0, Math.min(at, text.length())).lines().count();
    return new WritException(
        CliError.SETUP_FILE, file + " line " + Math.max(1, line) + ": " + what);
  }

  private char here() {
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private void read() {
    List<String> table = List.of();
    if (text.startsWith("\uFEFF")) {
      at = 1;
    }
    while (true) {
      blanksAndLines();
      if (at >= text.length()) {
        return;
      }
      if (here() == '[') {
        boolean array = text.startsWith("[[", at);
        at += array ? 2 : 1;
        table = key();
        if (!text.startsWith(array ? "]]" : "]", at)) {
          throw refused("a header that does not end");
        }
        at += array ? 2 : 1;
        defined.add(path(table));
      } else {
        List<String> key = new ArrayList<>(table);
        key.addAll(key());
        if (here() != '=') {
          throw refused("a key without a value");
        }
        at++;
        defined.add(path(key) + "=");
        value();
      }
      endOfLine();
    }
  }

  private void blanks() {
    while (here() == ' ' || here() == '\t') {
      at++;
    }
  }

  private void comment() {
    if (here() == '#') {
      int end = text.indexOf('\n', at);
      at = end < 0 ? text.length() : end;
    }
  }

  private void blanksAndLines() {
    while (at < text.length()) {
      blanks();
      comment();
      if (here() != '\n' && here() != '\r') {
        return;
      }
      at++;
    }
  }

  private void endOfLine() {
    blanks();
    comment();
    if (here() == '\r') {
      at++;
    }
    if (at < text.length() && here() != '\n') {
      throw refused("more behind a value");
    }
  }

  private List<String> key() {
    List<String> parts = new ArrayList<>();
    while (true) {
      blanks();
      parts.add(keyPart());
      blanks();
      if (here() != '.') {
        return parts;
      }
      at++;
    }
  }

  private String keyPart() {
    if (here() == '"' || here() == '\'') {
      int begin = at + 1;
      string();
      String part = text.substring(begin, at - 1);
      if (part.indexOf('\\') >= 0 || part.indexOf('\n') >= 0) {
        throw refused("a key with escapes");
      }
      return part;
    }
    int begin = at;
    while (Character.isLetterOrDigit(here()) || here() == '_' || here() == '-') {
      at++;
    }
    if (begin == at) {
      throw refused("no key");
    }
    return text.substring(begin, at);
  }

  private void value() {
    blanks();
    switch (here()) {
      case '"', '\'' -> string();
      case '[', '{' -> brackets();
      default -> {
        int begin = at;
        while (at < text.length() && "\r\n#,]}".indexOf(here()) < 0) {
          at++;
        }
        String word = text.substring(begin, at).strip();
        if (!word.matches("[A-Za-z0-9_.:+-]+( [0-9:.Z+-]+)?")) {
          throw refused("no value");
        }
      }
    }
  }

  /** A list or inline table, whatever is in it. */
  private void brackets() {
    int depth = 0;
    do {
      switch (here()) {
        case '[', '{' -> {
          depth++;
          at++;
        }
        case ']', '}' -> {
          depth--;
          at++;
        }
        case '"', '\'' -> string();
        case '#' -> comment();
        case '\0' -> throw refused("a list that does not end");
        default -> at++;
      }
    } while (depth > 0);
  }

  private void string() {
    char quote = here();
    String three = String.valueOf(quote).repeat(3);
    boolean many = text.startsWith(three, at);
    at += many ? 3 : 1;
    while (true) {
      if (at >= text.length() || !many && here() == '\n') {
        throw refused("a text that does not end");
      }
      if (quote == '"' && here() == '\\') {
        at += 2;
      } else if (many && text.startsWith(three, at)) {
        at += 3;
        while (here() == quote) { // up to two quotes may stand before the end
          at++;
        }
        return;
      } else if (!many && here() == quote) {
        at++;
        return;
      } else {
        at++;
      }
    }
  }
}
