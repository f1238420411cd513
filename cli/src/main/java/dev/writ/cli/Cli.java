package dev.writ.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.FailureReport;
import dev.writ.cli.base.NearWord;
import dev.writ.cli.base.PlainLine;
import dev.writ.cli.base.Session;
import dev.writ.cli.base.Version;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Parses arguments, runs one command, and turns its result into an exit status and one clean line.
 */
public final class Cli {
  private static final int HELP_WIDTH_MAX = 100;
  private static final String HELP = "help";

  private final Session session;
  private final FailureReport failures;
  private final List<CliCommand> commands;
  private boolean endsAtOnce;

  public Cli(Session session) {
    this(session, Commands.ALL);
  }

  Cli(Session session, List<CliCommand> commands) {
    this.session = session;
    this.commands = commands;
    this.failures = new FailureReport(session);
  }

  /**
   * Runs one command line.
   *
   * @return the exit status; nothing is thrown, whatever happens
   */
  public int run(String... args) {
    // Known before parsing, so that a command line that cannot be parsed is refused as JSON too.
    session.json(Arrays.asList(args).contains("--json"));
    ExitCode end;
    try {
      LostText.refuse(List.of(args), session);
      end = execute(List.of(args));
    } catch (WritException e) {
      end = failures.refused(e);
    } catch (ParameterException e) {
      end = failures.refused(new WritException(CliError.USAGE, usage(e), e));
    } catch (Exception | StackOverflowError | OutOfMemoryError | InternalError | LinkageError e) {
      end = failures.unexpected(e);
    }
    return finish(end).status();
  }

  /** Whether the command that ran needs no shutdown of the JVM. */
  boolean endsAtOnce() {
    return endsAtOnce;
  }

  private ExitCode finish(ExitCode end) {
    IOException failure = session.terminal().finish();
    return failure == null
        ? end
        : failures.refused(
            new WritException(CliError.OUTPUT_CLOSED, FailureReport.describe("stdout", failure)));
  }

  private ExitCode execute(List<String> given) throws IOException {
    List<String> args = asked(given);
    List<CliCommand> meant = Commands.meantBy(args, commands);
    if (meant.size() == 1) {
      Optional<PlainLine> plain = PlainLine.read(meant.getFirst(), args);
      if (plain.isPresent()) {
        plain.get().home().ifPresent(home -> session.home(Path.of(home)));
        plain.get().cell().ifPresent(session::cell);
        CliCommand command = plain.get().command();
        endsAtOnce = command.endsAtOnce();
        return run(command, plain.get().arguments());
      }
    }
    return executeParsed(args, commandLine(meant));
  }

  /** {@code writ help run} is {@code writ run --help}. */
  private List<String> asked(List<String> args) {
    if (!Commands.word(args).equals(HELP)) {
      return args;
    }
    List<String> named = new ArrayList<>(args);
    named.remove(HELP);
    if (isCommand(named)) {
      named.add("--help");
    }
    return named;
  }

  /** Not where a word names no command of its group, whose help would hide that. */
  private boolean isCommand(List<String> line) {
    List<CliCommand> below = commands;
    for (String word : line) {
      Optional<CliCommand> named =
          below.stream().filter(c -> c.usage().name().equals(word)).findFirst();
      if (named.isEmpty()) {
        return word.startsWith("-");
      }
      below = named.get().subcommands();
      if (below.isEmpty() || named.get().runsByItself()) {
        return true; // what follows may be its own, and nothing is to run
      }
    }
    return true;
  }

  private ExitCode run(CliCommand command, Arguments arguments) throws IOException {
    session.output(arguments);
    arguments.option("--tenant").ifPresent(session::tenant);
    return command.run(session, arguments);
  }

  private ExitCode executeParsed(List<String> args, CommandLine root) throws IOException {
    if (args.isEmpty()) {
      root.usage(root.getErr());
      return ExitCode.USAGE;
    }
    ParseResult result = root.parseArgs(args.toArray(String[]::new));
    requireBareFlags(args, result);
    if (CommandLine.executeHelpRequest(result) != null) {
      return ExitCode.OK;
    }
    readHome(result);
    while (result.hasSubcommand()) {
      result = result.subcommand();
      requireBareFlags(args, result);
      readHome(result);
    }
    if (result.commandSpec().userObject() instanceof CliCommand command && command.runsByItself()) {
      return run(command, Arguments.of(command.usage(), result));
    }
    throw new ParameterException(
        result.commandSpec().commandLine(),
        "which command of " + result.commandSpec().name() + "?");
  }

  /** A flag is given or not: {@code --yes=false} must not be the yes that it says it is not. */
  private static void requireBareFlags(List<String> args, ParseResult result) {
    for (OptionSpec option : result.matchedOptions()) {
      for (String name : option.names()) {
        if (option.typeInfo().isBoolean()
            && args.stream().anyMatch(arg -> arg.startsWith(name + "="))) {
          throw new ParameterException(
              result.commandSpec().commandLine(),
              name + " takes no value: give it alone, or leave it out");
        }
      }
    }
  }

  /** The options may stand before the command or behind it. */
  private void readHome(ParseResult result) {
    String home = result.matchedOptionValue("--home", (String) null);
    if (home != null) {
      if (home.isEmpty()) {
        throw new ParameterException(
            result.commandSpec().commandLine(), "--home names no directory: its value is empty");
      }
      session.home(Path.of(home));
    }
    String cell = result.matchedOptionValue("--cell", (String) null);
    if (cell != null) {
      session.cell(cell);
    }
  }

  private static String usage(ParameterException e) {
    String name = e.getCommandLine().getCommandSpec().qualifiedName();
    String nearest =
        e instanceof UnmatchedArgumentException unmatched
            ? hint(unmatched.getUnmatched().getFirst(), e.getCommandLine())
            : "";
    return Text.printable(e.getMessage().replaceAll("\\s+", " ")) + " (in " + name + ")" + nearest;
  }

  private static String hint(String word, CommandLine line) {
    return line.getCommandSpec().findOption(word) == null
        ? near(word, line).map(words -> "; did you mean " + words + "?").orElse("")
        : "; behind -- nothing is an option";
  }

  /** What was meant by a word that is not understood; {@code a=b} may be a parameter. */
  private static Optional<String> near(String word, CommandLine line) {
    boolean isParameter =
        word.matches("[A-Za-z_]\\w*=.*") && line.getCommandSpec().findOption("--param") != null;
    return isParameter
        ? Optional.of("--param " + Text.printable(word))
        : NearWord.of(word, words(line));
  }

  /** What may stand at that place: options, and the commands below it. */
  private static List<String> words(CommandLine line) {
    List<String> words = new ArrayList<>(line.getCommandSpec().optionsMap().keySet());
    line.getSubcommands()
        .forEach((name, below) -> {
          if (!below.getCommandSpec().usageMessage().hidden()) {
            words.add(name);
          }
        });
    return words;
  }

  /** The whole command line, for the completion script. */
  public static CommandLine commandLine(Session session) {
    return new Cli(session).commandLine(Commands.ALL);
  }

  private CommandLine commandLine(List<CliCommand> commands) {
    CommandLine root = new CommandLine(CommandUsage.root());
    commands.forEach(command -> add(root, command));
    Terminal terminal = session.terminal();
    root.setExpandAtFiles(false)
        .setOut(new PrintWriter(terminal.out(), true, UTF_8))
        .setErr(new PrintWriter(terminal.err(), true, UTF_8))
        .setUsageHelpWidth(Math.clamp(terminal.width(), 60, HELP_WIDTH_MAX))
        .setColorScheme(colours(terminal.outHasColour() ? Ansi.ON : Ansi.OFF));
    root.getCommandSpec().version("writ " + Version.text());
    return root;
  }

  /** picocli's own, without italics, which are not among what goes to a terminal. */
  private static CommandLine.Help.ColorScheme colours(Ansi ansi) {
    return new CommandLine.Help.ColorScheme.Builder(ansi)
        .commands(Ansi.Style.bold)
        .options(Ansi.Style.fg_yellow)
        .parameters(Ansi.Style.fg_yellow)
        .build();
  }

  private static void add(CommandLine parent, CliCommand command) {
    CommandLine line = new CommandLine(command.usage().spec(command));
    parent.addSubcommand(line);
    command.subcommands().forEach(below -> add(line, below));
  }
}
