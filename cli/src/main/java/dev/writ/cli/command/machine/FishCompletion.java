package dev.writ.cli.command.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The completion script for fish: commands and options, each with the line that help has for it.
 */
final class FishCompletion {
  private final List<String> lines = new ArrayList<>();

  private FishCompletion() {}

  /** The script for a whole command line. */
  static String of(CommandLine root) {
    FishCompletion script = new FishCompletion();
    script.add(root, List.of());
    return String.join("\n", script.lines) + "\n";
  }

  private void add(CommandLine command, List<String> path) {
    CommandSpec spec = command.getCommandSpec();
    List<CommandLine> below =
        command.getSubcommands().values().stream()
            .filter(each -> !each.getCommandSpec().usageMessage().hidden())
            .toList();
    String names = below.stream().map(CommandLine::getCommandName).collect(Collectors.joining(" "));
    String here =
        path.stream()
            .map(word -> "__fish_seen_subcommand_from " + word)
            .collect(Collectors.joining("; and "));
    String first =
        below.isEmpty()
            ? here
            : (here.isEmpty() ? "" : here + "; and ") + "not __fish_seen_subcommand_from " + names;
    for (CommandLine each : below) {
      // No files where a command is due.
      lines.add(line(first, "-f -a " + each.getCommandName(), description(each.getCommandSpec())));
    }
    for (OptionSpec option : spec.options()) {
      if (!path.isEmpty() && option.inherited()) {
        continue;
      }
      String value = option.arity().max() == 0 ? "" : " -r";
      lines.add(line(here, words(option) + value, String.join(" ", option.description())));
    }
    for (CommandLine each : below) {
      List<String> deeper = new ArrayList<>(path);
      deeper.add(each.getCommandName());
      add(each, deeper);
    }
  }

  private static String words(OptionSpec option) {
    return List.of(option.names()).stream()
        .map(name -> name.startsWith("--") ? "-l " + name.substring(2) : "-s " + name.substring(1))
        .collect(Collectors.joining(" "));
  }

  private static String description(CommandSpec spec) {
    return spec.usageMessage().description()[0];
  }

  private static String line(String when, String what, String description) {
    String text = description.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'");
    return "complete -c writ"
        + (when.isEmpty() ? "" : " -n '" + when + "'")
        + " "
        + what
        + " -d '"
        + text
        + "'";
  }
}
