package dev.writ.cli.base;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** What was given on the command line, by the names that {@link CommandUsage} declares. */
public final class Arguments {
  private final ParseResult result;

  public Arguments(ParseResult result) {
    this.result = result;
  }

  /** Whether a flag was given. */
  public boolean has(String option) {
    return result.matchedOptionValue(option, false);
  }

  public Optional<String> option(String option) {
    return Optional.ofNullable(result.matchedOptionValue(option, (String) null));
  }

  public List<String> options(String option) {
    return result.matchedOptionValue(option, List.of());
  }

  /** A word that must be there. */
  public String argument(String label) {
    return optionalArgument(label).orElseThrow();
  }

  public Optional<String> optionalArgument(String label) {
    return Optional.ofNullable(positional(label).getValue());
  }

  public List<String> moreArguments(String label) {
    List<String> values = positional(label).getValue();
    return values == null ? List.of() : values;
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

  private PositionalParamSpec positional(String label) {
    return result.commandSpec().positionalParameters().stream()
        .filter(p -> p.paramLabel().equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("not declared: " + label));
  }
}
