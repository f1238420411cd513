package dev.writ.cli.base;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A command line in its plainest form: each option by its whole name with its value in a word of
 * its own, nothing missing, nothing twice. Such a line is read here, because loading picocli and
 * asking it takes longer than a short command runs. Whatever else is given, help and mistakes among
 * it, is left to picocli, so that there is one place that says what is wrong.
 *
 * @param command the one to run
 * @param home the value of {@code --home}
 * @param cell the value of {@code --cell}
 */
public record PlainLine(
    CliCommand command, Optional<String> home, Optional<String> cell, Arguments arguments) {
  private static final String HOME = "--home";
  private static final String CELL = "--cell";
  private static final String JSON = "--json";

  /**
   * Reads a line for one command or those below it.
   *
   * @param args with the command's name among them
   * @return empty where picocli is to read it
   */
  public static Optional<PlainLine> read(CliCommand command, List<String> args) {
    return new Reader(command).read(args);
  }

  private static final class Reader {
    private final Map<String, List<String>> given = new TreeMap<>();
    private final List<String> words = new ArrayList<>();
    private CliCommand command;
    private CommandUsage usage;
    private boolean named;
    private boolean json;
    private String home;
    private String cell;

    Reader(CliCommand command) {
      this.command = command;
      this.usage = command.usage();
    }

    Optional<PlainLine> read(List<String> args) {
      for (int i = 0; i < args.size(); i++) {
        String arg = args.get(i);
        boolean read;
        if (!isOption(arg)) {
          read = word(arg);
        } else if (arg.equals(JSON)) {
          read = !json;
          json = true;
        } else {
          int used = option(arg, i + 1 < args.size() ? args.get(i + 1) : "");
          read = used > 0;
          i += used - 1;
        }
        if (!read) {
          return Optional.empty();
        }
      }
      return named && command.runsByItself() && placed() && complete()
          ? Optional.of(
              new PlainLine(
                  command,
                  Optional.ofNullable(home),
                  Optional.ofNullable(cell),
                  new Arguments(usage, given)))
          : Optional.empty();
    }

    private boolean complete() {
      return usage.options().stream()
          .allMatch(option -> !option.required() || given.containsKey(option.name()));
    }

    private static boolean isOption(String arg) {
      return arg.startsWith("-") && arg.length() > 1;
    }

    /** The first word names the command, the next may name one below it. */
    private boolean word(String arg) {
      if (!named) {
        named = arg.equals(usage.name());
        return named;
      }
      if (words.isEmpty() && given.isEmpty()) {
        for (CliCommand below : command.subcommands()) {
          if (below.usage().name().equals(arg)) {
            command = below;
            usage = below.usage();
            return true;
          }
        }
      }
      // A command that takes words and has others below it reads them in a way of its own.
      return command.subcommands().isEmpty() && !arg.isEmpty() && words.add(arg);
    }

    /** How many arguments belong to this option; 0 where it is not plain. */
    private int option(String name, String value) {
      boolean hasValue = !value.isEmpty() && !value.startsWith("-");
      if (name.equals(HOME)) {
        boolean plain = hasValue && home == null;
        home = value;
        return plain ? 2 : 0;
      }
      if (name.equals(CELL)) {
        boolean plain = hasValue && cell == null;
        cell = value;
        return plain ? 2 : 0;
      }
      if (!named || !command.subcommands().isEmpty()) {
        return 0;
      }
      for (CommandUsage.Option option : usage.options()) {
        if (option.name().equals(name)) {
          return given(option, hasValue ? value : null);
        }
      }
      return 0;
    }

    private int given(CommandUsage.Option option, String value) {
      if (option.isFlag()) {
        return given.put(option.name(), List.of()) == null ? 1 : 0;
      }
      if (value == null || given.containsKey(option.name()) && !option.repeated()) {
        return 0;
      }
      given.computeIfAbsent(option.name(), _ -> new ArrayList<>()).add(value);
      return 2;
    }

    /** Gives each declared word its own; false if some are missing or left. */
    private boolean placed() {
      int next = 0;
      for (CommandUsage.Word word : usage.words()) {
        if (word.count() == CommandUsage.Count.ANY) {
          if (next < words.size()) {
            given.put(word.label(), List.copyOf(words.subList(next, words.size())));
            next = words.size();
          }
        } else if (next < words.size()) {
          given.put(word.label(), List.of(words.get(next++)));
        } else if (word.count() == CommandUsage.Count.ONE) {
          return false;
        }
      }
      return next == words.size();
    }
  }
}
