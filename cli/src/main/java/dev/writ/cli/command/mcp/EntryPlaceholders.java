package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Fills placeholders of a client's entry in from the environment, and remembers which. */
final class EntryPlaceholders {
  private static final Pattern PLACE =
      Pattern.compile("\\$\\{(?<kind>env:|input:)?(?<name>[A-Za-z0-9_.-]+)(:-(?<default>[^}]*))?}");

  private final Map<String, String> environment;
  private final TreeSet<String> taken = new TreeSet<>();

  EntryPlaceholders(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * A text with its placeholders filled in.
   *
   * @param isSecret whether the name or the value of one of them says that it is a secret: then the
   *     whole text is one, whatever it is called and however it looks
   */
  record Filled(String text, boolean isSecret) {}

  /**
   * @param field that has the text, for people
   * @throws WritException {@code CLI-079} for a placeholder whose value is not known here
   */
  Filled fill(String field, String text) {
    Matcher place = PLACE.matcher(text);
    StringBuilder out = new StringBuilder();
    boolean isSecret = false;
    while (place.find()) {
      String value = value(field, place);
      isSecret |= EntryValues.isSecret(place.group("name"), value);
      place.appendReplacement(out, Matcher.quoteReplacement(value));
    }
    place.appendTail(out);
    if (out.indexOf("${") >= 0) {
      throw refused(field + ": a placeholder that only its client fills in");
    }
    return new Filled(out.toString(), isSecret);
  }

  private String value(String field, Matcher place) {
    String asked = place.group("name");
    if ("input:".equals(place.group("kind"))) {
      throw refused(
          field + ": ${input:" + asked + "} is a part of a value: give the whole one by hand");
    }
    String value = variable(field, asked.equals("userHome") ? "HOME" : asked);
    if (!value.isEmpty() || asked.equals("userHome")) {
      return value;
    }
    if (place.group("default") != null) {
      return place.group("default");
    }
    throw refused(field + ": the variable " + asked + " is not set here");
  }

  /**
   * A variable of the environment; nothing for one that is not set.
   *
   * @throws WritException {@code CLI-079} for one of Writ's own, set or not: they open its keys,
   *     and no server has a use for them
   */
  String variable(String field, String name) {
    if (name.toUpperCase(Locale.ROOT).startsWith("WRIT_")) {
      throw refused(field + ": " + name + " is a variable of Writ itself, which no server gets");
    }
    String value = environment.getOrDefault(name, "");
    if (!value.isEmpty()) {
      taken.add(name);
    }
    return value;
  }

  /** The names of the variables whose values were taken. */
  List<String> taken() {
    return List.copyOf(taken);
  }

  private static WritException refused(String why) {
    return new WritException(CliError.IMPORT_ENTRY, why);
  }
}
