package dev.writ.cli.command.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The manual in the form of man(7): a page for {@code writ} and one for each of its commands, made
 * of what {@code --help} shows. A page of a group has all commands below it.
 */
final class ManualPages {
  private static final List<List<String>> VARIABLES =
      List.of(
          List.of("WRIT_HOME", "The data directory where --home names none."),
          List.of("NO_COLOR", "No colours, if set to anything."),
          List.of("COLUMNS", "The width of tables and help, in place of the terminal's own."),
          List.of("WRIT_JAVA_OPTS", "Further options for the JVM, separated by spaces."));

  private final CommandLine root;
  private final String version;

  /**
   * @param root the whole command line
   * @param version of Writ, for the foot of each page
   */
  ManualPages(CommandLine root, String version) {
    this.root = root;
    this.version = version;
  }

  /** Each page by its file name. */
  Map<String, String> all() {
    Map<String, String> pages = new TreeMap<>();
    pages.put("writ.1", overview());
    shown(root)
        .forEach(command -> pages.put("writ-" + command.getCommandName() + ".1", page(command)));
    return pages;
  }

  private String overview() {
    StringBuilder page = head("writ", first(root.getCommandSpec()));
    synopsis(page, List.of(root));
    description(page, root.getCommandSpec());
    page.append(".SH COMMANDS\n");
    for (CommandLine command : shown(root)) {
      page.append(".TP\n.BR writ\\-").append(text(command.getCommandName())).append(" (1)\n");
      page.append(text(first(command.getCommandSpec()))).append('\n');
    }
    options(page, ".SH OPTIONS\n", root.getCommandSpec().options());
    page.append(".SH EXIT STATUS\n");
    root.getCommandSpec()
        .usageMessage()
        .exitCodeList()
        .forEach((status, meaning) -> item(page, status.strip(), meaning));
    page.append(".SH ENVIRONMENT\n");
    VARIABLES.forEach(variable -> item(page, variable.getFirst(), variable.getLast()));
    return page.toString();
  }

  private String page(CommandLine command) {
    CommandSpec spec = command.getCommandSpec();
    StringBuilder page = head("writ-" + spec.name(), first(spec));
    List<CommandLine> leaves = leaves(command);
    synopsis(page, leaves);
    description(page, spec);
    arguments(page, spec);
    options(page, ".SH OPTIONS\n", own(spec));
    List<CommandLine> below = leaves.stream().filter(leaf -> leaf != command).toList();
    if (!below.isEmpty()) {
      page.append(".SH COMMANDS\n");
    }
    for (CommandLine leaf : below) {
      CommandSpec one = leaf.getCommandSpec();
      page.append(".SS ").append(text(one.qualifiedName())).append('\n');
      paragraphs(page, one);
      arguments(page, one);
      options(page, "", own(one));
    }
    return page.append(".SH SEE ALSO\n.BR writ (1)\n").toString();
  }

  /** Without a date: a page changes with what it says alone. */
  private StringBuilder head(String name, String what) {
    return new StringBuilder(".TH ")
        .append(text(name.toUpperCase(java.util.Locale.ROOT)))
        .append(" 1 \"\" \"writ ")
        .append(text(version))
        .append("\" \"Writ\"\n.SH NAME\n")
        .append(text(name))
        .append(" \\- ")
        .append(text(what))
        .append('\n');
  }

  private static void synopsis(StringBuilder page, List<CommandLine> commands) {
    page.append(".SH SYNOPSIS\n");
    for (CommandLine command : commands) {
      CommandSpec spec = command.getCommandSpec();
      List<ArgSpec> args = new ArrayList<>(own(spec));
      args.addAll(spec.positionalParameters());
      page.append(".B ").append(text(spec.qualifiedName())).append('\n');
      String words = args.stream().map(ManualPages::word).collect(Collectors.joining(" "));
      if (!words.isEmpty()) {
        page.append(text(words)).append('\n');
      }
      if (spec.parent() == null) {
        page.append("COMMAND \\&...\n");
      }
      page.append(".br\n");
    }
  }

  private static String word(ArgSpec arg) {
    String more = arg.isMultiValue() ? "..." : "";
    if (arg instanceof OptionSpec option) {
      return "[" + name(option) + "]" + more;
    }
    return (arg.required() ? arg.paramLabel() : "[" + arg.paramLabel() + "]") + more;
  }

  private static String name(OptionSpec option) {
    String value = option.arity().max() == 0 ? "" : " " + option.paramLabel();
    return String.join(", ", option.names()) + value;
  }

  private static void description(StringBuilder page, CommandSpec spec) {
    page.append(".SH DESCRIPTION\n");
    paragraphs(page, spec);
  }

  private static void paragraphs(StringBuilder page, CommandSpec spec) {
    page.append(
        Arrays.stream(spec.usageMessage().description())
            .map(paragraph -> text(plain(paragraph)) + "\n")
            .collect(Collectors.joining(".PP\n")));
  }

  private static void arguments(StringBuilder page, CommandSpec spec) {
    spec.positionalParameters()
        .forEach(each -> item(page, each.paramLabel(), String.join(" ", each.description())));
  }

  private static void options(StringBuilder page, String heading, List<OptionSpec> options) {
    if (!options.isEmpty()) {
      page.append(heading);
    }
    options.forEach(each -> item(page, name(each), String.join(" ", each.description())));
  }

  private static void item(StringBuilder page, String term, String what) {
    page.append(".TP\n.B ").append(text(term)).append('\n').append(text(plain(what))).append('\n');
  }

  /** The options of a command alone; those that every command has are in the page of writ. */
  private static List<OptionSpec> own(CommandSpec spec) {
    return spec.options().stream()
        .filter(each -> spec.parent() == null || !each.inherited())
        .toList();
  }

  private static List<CommandLine> shown(CommandLine parent) {
    return parent.getSubcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .toList();
  }

  /** The commands that run: itself unless it is a mere group, and those below it. */
  private static List<CommandLine> leaves(CommandLine command) {
    List<CommandLine> leaves = new ArrayList<>();
    if (command.getCommandSpec().userObject() instanceof dev.writ.cli.base.CliCommand each
        && each.runsByItself()) {
      leaves.add(command);
    }
    shown(command).forEach(below -> leaves.addAll(leaves(below)));
    return leaves;
  }

  private static String first(CommandSpec spec) {
    return plain(spec.usageMessage().description()[0]);
  }

  /** picocli's texts are formats. */
  private static String plain(String text) {
    return text.replace("%%", "%");
  }

  /** A text as one line of man(7) that is no request. */
  private static String text(String text) {
    String line = text.replaceAll("\\s+", " ").replace("\\", "\\e").replace("-", "\\-");
    return line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line;
  }
}
