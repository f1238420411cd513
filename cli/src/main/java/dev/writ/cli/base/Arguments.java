package dev.writ.cli.base;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** What was given on the command line, by the names that {@link CommandUsage} declares. */
public final class Arguments {
  private final CommandUsage usage;
  private final Map<String, List<String>> given;

  /**
   * @param given the values of the options and words that were given, by name and label; of a flag
   *     none
   */
  Arguments(CommandUsage usage, Map<String, List<String>> given) {
    this.usage = usage;
    this.given = given;
  }

  /** What picocli found for this command. */
  public static Arguments of(CommandUsage usage, ParseResult result) {
    Map<String, List<String>> given = new TreeMap<>();
    for (CommandUsage.Option option : usage.options()) {
      if (result.hasMatchedOption(option.name())) {
        given.put(
            option.name(),
            option.isFlag()
                ? List.of()
                : List.copyOf(result.matchedOption(option.name()).stringValues()));
      }
    }
    for (PositionalParamSpec word : result.matchedPositionals()) {
      given.put(word.paramLabel(), List.copyOf(word.stringValues()));
    }
    return new Arguments(usage, given);
  }

  /** Whether a flag was given. */
  public boolean has(String option) {
    return given.containsKey(option);
  }

  public Optional<String> option(String option) {
    return first(option);
  }

  public List<String> options(String option) {
    return given.getOrDefault(option, List.of());
  }

  /** A word that must be there. */
  public String argument(String label) {
    return optionalArgument(label).orElseThrow();
  }

  public Optional<String> optionalArgument(String label) {
    requireDeclared(label);
    return first(label);
  }

  public List<String> moreArguments(String label) {
    requireDeclared(label);
    return options(label);
  }

  private Optional<String> first(String name) {
    List<String> values = given.get(name);
    return values == null ? Optional.empty() : Optional.of(values.getFirst());
  }

  /**
   * A number.
   *
   * @throws WritException {@code CLI-001} unless it is an integer from min to max
   */
  public Optional<Long> integer(String option, long min, long max) {
    return option(option).map(text -> integer(option, text, min, max));
  }

  private static long integer(String option, String text, long min, long max) {
    try {
      long value = Long.parseLong(text);
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // refused below, with numbers out of range
    }
    throw new WritException(
        CliError.USAGE, option + " " + text + " is no integer from " + min + " to " + max);
  }

  /**
   * One of a few words.
   *
   * @throws WritException {@code CLI-001} for any other
   */
  public static String oneOf(String label, String found, List<String> allowed) {
    if (allowed.contains(found)) {
      return found;
    }
    throw new WritException(
        CliError.USAGE, label + " \"" + found + "\" is none of " + String.join(", ", allowed));
  }

  private void requireDeclared(String label) {
    for (CommandUsage.Word word : usage.words()) {
      if (word.label().equals(label)) {
        return;
      }
    }
    throw new IllegalArgumentException("not declared: " + label);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Arguments that && given.equals(that.given);
  }

  @Override
  public int hashCode() {
    return given.hashCode();
  }

  @Override
  public String toString() {
    return given.toString();
  }
}
