package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One table in a text of TOML 1.0, between two lines of comment; the rest keeps its bytes. What
 * stands in the rest is looked through for another definition of the table: a header, a key with
 * dots, or an inline table.
 */
final class TomlEdit {
  static final String BEGIN = "# begin: writ setup";
  static final String END = "# end: writ setup";

  private final String file;
  private final String text;
  private final int begin;
  private final int end;

  private TomlEdit(String file, String text) {
    this.file = file;
    this.text = text;
    int from = lineOf(BEGIN, 0);
    if (from < 0) {
      this.begin = -1;
      this.end = -1;
      return;
    }
    int to = lineOf(END, from);
    if (to < 0 || lineOf(BEGIN, from + 1) >= 0) {
      throw refused("\"" + BEGIN + "\" without its end, or twice");
    }
    int line = text.indexOf('\n', to);
    this.begin = from;
    this.end = line < 0 ? text.length() : line + 1;
  }

  static TomlEdit of(String file, String text) {
    return new TomlEdit(file, text);
  }

  private WritException refused(String what) {
    return new WritException(CliError.SETUP_FILE, file + ": " + what);
  }

  /** Where a line begins that is exactly this. */
  private int lineOf(String line, int from) {
    int at = text.indexOf(line, from);
    while (at >= 0) {
      int behind = at + line.length();
      boolean whole =
          (at == 0 || text.charAt(at - 1) == '\n')
              && (behind == text.length()
                  || text.charAt(behind) == '\n'
                  || text.charAt(behind) == '\r');
      if (whole) {
        return at;
      }
      at = text.indexOf(line, behind);
    }
    return -1;
  }

  /** What stands between the two lines, with them. */
  Optional<String> region() {
    return begin < 0 ? Optional.empty() : Optional.of(text.substring(begin, end));
  }

  /**
   * Puts the table at the end, or in place of the region that is there.
   *
   * @param table names of the header's parts
   * @throws WritException {@code CLI-035} for what cannot be read, {@code CLI-036} where the table
   *     is defined elsewhere
   */
  String set(List<String> table, JsonValue.Obj members) {
    String rest = begin < 0 ? text : text.substring(0, begin) + text.substring(end);
    if (TomlNames.of(file, rest).defines(table)) {
      throw new WritException(CliError.SETUP_FOREIGN, file + ": " + String.join(".", table));
    }
    String eol = text.contains("\r\n") ? "\r\n" : "\n";
    List<String> lines = new ArrayList<>();
    lines.add(BEGIN);
    lines.add("[" + String.join(".", table) + "]");
    members
        .members()
        .forEach((name, value) ->
            lines.add(name + " = " + new String(Jcs.write(value), StandardCharsets.UTF_8)));
    lines.add(END);
    String region = String.join(eol, lines) + eol;
    if (begin >= 0) {
      return text.substring(0, begin) + region + text.substring(end);
    }
    String gap = text.isEmpty() ? "" : text.endsWith("\n") ? eol : eol + eol;
    return text + gap + region;
  }

  /** Takes the region out, with the empty line before it. */
  String remove() {
    if (begin < 0) {
      return text;
    }
    String next =
        text.substring(end)
            .lines()
            .map(String::strip)
            .filter(l -> !l.isEmpty())
            .filter(l -> !l.startsWith("#"))
            .findFirst()
            .orElse("[");
    if (!next.startsWith("[")) {
      throw refused("a key behind \"" + END + "\" would fall into another table");
    }
    String before = text.substring(0, begin);
    if (before.endsWith("\n\n")) {
      before = before.substring(0, before.length() - 1);
    } else if (before.endsWith("\r\n\r\n")) {
      before = before.substring(0, before.length() - 2);
    }
    return before + text.substring(end);
  }
}
