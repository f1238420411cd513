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
 * The name, options and arguments of a command, for {@link PlainLine} and picocli to parse and for
 * picocli to explain. Built by calls, because reading annotations takes longer than a short command
 * runs; and of picocli's classes only when it is asked, for the same reason.
 */
public final class CommandUsage {
  /** The option that names the form of a list. */
  static final String OUTPUT = "--output";

  /** What that option can say. */
  static final List<String> FORMATS = List.of("table", "json", "csv");

  private final String name;
  private final List<String> description;
  private final List<Word> words = new ArrayList<>();
  private final List<Option> options = new ArrayList<>();
  private final List<Declared> declared = new ArrayList<>();
  private final List<String> examples = new ArrayList<>();
  private boolean hidden;

  /** An option or an argument, in the order in which they were declared. */
  private sealed interface Declared {
    ArgSpec spec();
  }

  /** How often a word may stand there. */
  enum Count {
    ONE("1"),
    AT_MOST_ONE("0..1"),
    ANY("0..*");

    private final String arity;

    Count(String arity) {
      this.arity = arity;
    }
  }

  /** An argument without a name before it. */
  record Word(String label, String what, Count count, int index) implements Declared {
    @Override
    public ArgSpec spec() {
      boolean any = count == Count.ANY;
      return PositionalParamSpec.builder()
          .paramLabel(label)
          .description(escape(what))
          .arity(count.arity)
          .required(count == Count.ONE)
          .index(any ? index + "..*" : Integer.toString(index))
          .type(any ? List.class : String.class)
          .auxiliaryTypes(String.class)
          .build();
    }
  }

  /**
   * An option.
   *
   * @param label of its value, empty for a flag
   * @param repeated whether it may be given several times
   * @param required whether the command needs it
   */
  record Option(String name, String label, String what, boolean repeated, boolean required)
      implements Declared {
    boolean isFlag() {
      return label.isEmpty();
    }

    @Override
    public ArgSpec spec() {
      // Most commands call the file that they write -o, so those that say --out take it, too.
      String[] names = name.equals("--out") ? new String[] {"-o", name} : new String[] {name};
      OptionSpec.Builder builder = OptionSpec.builder(names).description(escape(what));
      return isFlag()
          ? builder.type(boolean.class).build()
          : builder
              .arity("1")
              .required(required)
              .paramLabel(label)
              .type(repeated ? List.class : String.class)
              .auxiliaryTypes(String.class)
              .build();
    }
  }

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
    return word(label, what, Count.ONE);
  }

  /** A word that may be left out. */
  public CommandUsage optionalArgument(String label, String what) {
    return word(label, what, Count.AT_MOST_ONE);
  }

  /** All words that are left. */
  public CommandUsage moreArguments(String label, String what) {
    return word(label, what, Count.ANY);
  }

  private CommandUsage word(String label, String what, Count count) {
    Word word = new Word(label, what, count, words.size());
    words.add(word);
    declared.add(word);
    return this;
  }

  /** An option without a value. */
  public CommandUsage flag(String option, String what) {
    return option(new Option(option, "", what, false, false));
  }

  /** An option with a value, given at most once. */
  public CommandUsage option(String option, String label, String what) {
    return option(new Option(option, label, what, false, false));
  }

  /** An option with a value without which there is no such command. */
  public CommandUsage requiredOption(String option, String label, String what) {
    return option(new Option(option, label, what, false, true));
  }

  /** An option with a value that may be given several times. */
  public CommandUsage options(String option, String label, String what) {
    return option(new Option(option, label, what, true, false));
  }

  private CommandUsage option(Option option) {
    options.add(option);
    declared.add(option);
    return this;
  }

  /** What a command has that prints a list: the choice of the list's form. */
  public CommandUsage list() {
    return option(
        OUTPUT, "FORMAT", "The list's form: " + String.join(", ", FORMATS) + " (default: table).");
  }

  /** A command line that works, behind {@code writ}; help shows it. */
  public CommandUsage example(String line) {
    examples.add(line);
    return this;
  }

  /** What {@link #example} was given. */
  public List<String> examples() {
    return List.copyOf(examples);
  }

  /** Leaves it out of help and completion. */
  public CommandUsage hidden() {
    hidden = true;
    return this;
  }

  public String name() {
    return name;
  }

  /** The arguments, in their order. */
  List<Word> words() {
    return words;
  }

  /** The options of this command alone. */
  List<Option> options() {
    return options;
  }

  /**
   * Converts this for picocli.
   *
   * @param command the object that picocli returns for this command when it parses it
   */
  public CommandSpec spec(Object command) {
    CommandSpec spec = CommandSpec.wrapWithoutInspection(command).name(name);
    declared.forEach(each -> spec.add(each.spec()));
    spec.usageMessage()
        .hidden(hidden)
        .description(description.stream().map(CommandUsage::escape).toArray(String[]::new))
        .commandListHeading("%nCommands:%n")
        .parameterListHeading("%nArguments:%n")
        .optionListHeading("%nOptions:%n")
        .footerHeading(examples.isEmpty() ? "" : "%nFor example:%n")
        .footer(examples.stream().map(line -> escape("  writ " + line)).toArray(String[]::new))
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
            .description("The data directory (default: WRIT_HOME, else writ-data here).")
            .build());
    spec.addOption(
        shared("--cell")
            .arity("1")
            .paramLabel("NUMBER")
            .type(String.class)
            .order(80)
            .description(
                "Which log of an installation of several cells (default: the system's for what is"
                    + " in force, else the tenant's).")
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
