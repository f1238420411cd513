package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server's table of a TOML file, with new members in the place of some. Members that say how long
 * to wait for the server, or which of its tools are wanted, keep their lines.
 */
final class TomlTable {
  private enum Place {
    OUTSIDE,
    /** Below the header of the table itself. */
    OWN,
    /** Below the header of a table in it that goes. */
    GONE
  }

  private final Path file;
  private final JsonValue.Obj made;
  private final List<String> replaced;
  private final Pattern header;
  private final List<String> lines = new ArrayList<>();
  private Place place = Place.OUTSIDE;
  private String eol = "\n";

  /** The lines so far of a member that goes on in the next. */
  private String member = "";

  /**
   * @param name of the server
   * @param made the members that come
   * @param replaced names of members and tables that go, beside those that come
   */
  TomlTable(Path file, String name, JsonValue.Obj made, List<String> replaced) {
    this.file = file;
    this.made = made;
    this.replaced = replaced;
    this.header =
        Pattern.compile(
            "\\s*\\[\\s*mcp_servers\\s*\\.\\s*[\"']?"
                + Pattern.quote(name)
                + "[\"']?\\s*(?:\\.\\s*[\"']?(?<below>[^\"'.\\s\\]]*).*)?\\]\\s*(#.*)?");
  }

  /** The text of the file with the table changed. */
  String in(String text) {
    for (String line : text.split("(?<=\n)", -1)) {
      if (place == Place.OWN && !member.isEmpty()) {
        take(member + line);
      } else {
        begin(line, line.stripTrailing());
      }
    }
    leave();
    return String.join("", lines);
  }

  private void begin(String line, String bare) {
    Matcher found = header.matcher(bare);
    if (found.matches()) {
      leave();
      String below = found.group("below");
      if (below == null) {
        eol = line.endsWith("\r\n") ? "\r\n" : "\n";
        place = Place.OWN;
        lines.add(bare + eol);
        made.members().forEach((name, value) -> lines.add(name + " = " + json(value) + eol));
        return;
      }
      place = replaced.contains(below) ? Place.GONE : Place.OUTSIDE;
    } else if (bare.stripLeading().startsWith("[")) {
      leave();
    }
    switch (place) {
      case OUTSIDE -> lines.add(line);
      case OWN -> {
        if (!bare.isBlank() && !bare.stripLeading().startsWith("#")) {
          take(line);
        }
      }
      case GONE -> {
        // It is left out.
      }
    }
  }

  /** Takes a member once it is whole: a list or a text may go on over lines. */
  private void take(String sofar) {
    Set<String> names;
    try {
      names = ServersFile.toml(file, sofar).members().keySet();
    } catch (WritException e) {
      member = sofar;
      return;
    }
    member = "";
    boolean goes = names.stream().anyMatch(n -> replaced.contains(n) || made.get(n) != null);
    if (!goes) {
      lines.add(sofar.endsWith("\n") ? sofar : sofar + eol);
    }
  }

  private void leave() {
    if (place == Place.OWN) {
      lines.add(eol);
    }
    place = Place.OUTSIDE;
  }

  private static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
