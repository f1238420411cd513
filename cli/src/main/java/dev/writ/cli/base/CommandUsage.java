package dev.writ.cli.base;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ScopeType;

/**
 * The name, options and arguments of a command, for picocli to parse and explain. Built by calls,
 * because reading annotations takes longer than a short command runs.
 */
public final class CommandUsage {
  private final String name;
  private final List<String> description;
  private final List<ArgSpec> args = new ArrayList<>();
  private boolean hidden;
  private int positionals;

  private CommandUsage(String name, List<String> description) {
    this.name = name;
    this.description = description;
  }

  /**
   * @param description paragraphs, the first of which stands in the list of commands
   */
  public static CommandUsage of(String name, String... description) {
    return new CommandUsage(name, List.of(description));
  }

  /** A required argument; {@link Arguments#argument} gives it by its label. */
  public CommandUsage argument(String label, String what) {
    return positional(label, what, "1", positionals++ + "");
  }

  /** A word that may be left out. */
  public CommandUsage optionalArgument(String label, String what) {
    return positional(label, what, "0..1", positionals++ + "");
  }

  /** All words that are left. */
  public CommandUsage moreArguments(String label, String what) {
    return positional(label, what, "0..*", positionals + "..*");
  }

  private CommandUsage positional(String label, String what, String arity, String index) {
    args.add(
        PositionalParamSpec.builder()
            .paramLabel(label)
            .description(escape(what))
            .arity(arity)
            .required(arity.equals("1"))
            .index(index)
            .type(index.endsWith("*") ? List.class : String.class)
            .auxiliaryTypes(String.class)
            .build());
    return this;
  }

  /** An option without a value. */
  public CommandUsage flag(String option, String what) {
    args.add(OptionSpec.builder(option).type(boolean.class).description(escape(what)).build());
    return this;
  }

  /** An option with a value, given at most once. */
  public CommandUsage option(String option, String label, String what) {
    return valued(option, label, what, String.class);
  }

  /** An option with a value that may be given several times. */
  public CommandUsage options(String option, String label, String what) {
    return valued(option, label, what, List.class);
  }

  private CommandUsage valued(String option, String label, String what, Class<?> type) {
    args.add(
        OptionSpec.builder(option)
            .arity("1")
            .paramLabel(label)
            .description(escape(what))
            .type(type)
            .auxiliaryTypes(String.class)
            .build());
    return this;
  }

  /** Leaves it out of help and completion. */
  public CommandUsage hidden() {
    hidden = true;
    return this;
  }

  public String name() {
    return name;
  }

  /**
   * Converts this for picocli.
   *
   * @param command the object that picocli returns for this command when it parses it
   */
  public CommandSpec spec(Object command) {
    CommandSpec spec = CommandSpec.wrapWithoutInspection(command).name(name);
    args.forEach(spec::add);
    spec.usageMessage()
        .hidden(hidden)
        .description(description.stream().map(CommandUsage::escape).toArray(String[]::new))
        .commandListHeading("%nCommands:%n")
        .parameterListHeading("%nArguments:%n")
        .optionListHeading("%nOptions:%n")
        .synopsisSubcommandLabel("COMMAND");
    return spec;
  }

  /** {@code writ} itself, with the options that every command has. */
  public static CommandSpec root() {
    CommandSpec spec =
        of(
                "writ",
                "A guardian and executor for agents: every effect needs a signed decision, ends in"
                    + " a signed receipt, and can be replayed.")
            .spec("writ");
    spec.addOption(
        shared("--home")
            .arity("1")
            .paramLabel("DIR")
            .type(String.class)
            .order(80)
            .description("The data directory (default: WRIT_HOME, else ./writ-data).")
            .build());
    spec.addOption(
        shared("--json").order(81).description("Print data as one line of JSON.").build());
    spec.addOption(
        shared("-h", "--help").order(90).usageHelp(true).description("Show this help.").build());
    spec.addOption(
        OptionSpec.builder("--version")
            .order(91)
            .type(boolean.class)
            .versionHelp(true)
            .description("Show the version.")
            .build());
    spec.usageMessage().exitCodeListHeading("%nExit status:%n");
    var statuses = new LinkedHashMap<String, String>();
    Arrays.stream(ExitCode.values()).forEach(e -> statuses.put(" " + e.status(), e.meaning()));
    spec.usageMessage().exitCodeList(statuses);
    return spec;
  }

  private static OptionSpec.Builder shared(String... names) {
    return OptionSpec.builder(names[0], Arrays.copyOfRange(names, 1, names.length))
        .type(boolean.class)
        .scopeType(ScopeType.INHERIT);
  }

  /** picocli reads a percent sign as the beginning of a format. */
  private static String escape(String text) {
    return text.replace("%", "%%");
  }
}
