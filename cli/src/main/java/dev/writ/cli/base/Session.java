package dev.writ.cli.base;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * What every command gets: the terminal, the environment, and the options that all commands have.
 */
public final class Session {
  /** Of the environment: the data directory where no option names one. */
  public static final String HOME_VARIABLE = "WRIT_HOME";

  private final Terminal terminal;
  private final Map<String, String> environment;
  private Optional<Path> home = Optional.empty();
  private Optional<Integer> cell = Optional.empty();
  private Optional<String> tenant = Optional.empty();
  private boolean ofSystem;
  private boolean json;
  private final Passphrases passphrases = new Passphrases(this);

  public Session(Terminal terminal, Map<String, String> environment) {
    this.terminal = terminal;
    this.environment = environment;
  }

  public Terminal terminal() {
    return terminal;
  }

  public Map<String, String> environment() {
    return environment;
  }

  /** Of key files. */
  public Passphrases passphrases() {
    return passphrases;
  }

  /** The data directory: {@code --home}, else WRIT_HOME, else writ-data in the current folder. */
  public Path home() {
    String named = environment.getOrDefault(HOME_VARIABLE, "");
    return home.orElseGet(() -> Path.of(named.isEmpty() ? "writ-data" : named));
  }

  public void home(Path value) {
    home = Optional.of(value);
    terminal.namedHome(value);
  }

  /** The log that {@code --cell} names. */
  public Optional<Integer> cell() {
    return cell;
  }

  /**
   * Takes the value of {@code --cell}.
   *
   * @throws WritException {@code CLI-001}
   */
  public void cell(String text) {
    if (!text.matches("[0-9]{1,6}")) {
      throw new WritException(CliError.USAGE, "--cell " + text + " is no number");
    }
    cell = Optional.of(Integer.valueOf(text));
  }

  /** The tenant that the command names. */
  Optional<String> tenant() {
    return tenant;
  }

  public void tenant(String name) {
    tenant = Optional.of(name);
  }

  /** Whether the command is about what is in force, which the system cell has. */
  boolean isOfSystem() {
    return ofSystem;
  }

  /** The command is about what is in force; {@code --cell} may name another log all the same. */
  public void meansSystem() {
    ofSystem = true;
  }

  /** Whether data is printed as one line of JSON. */
  public boolean json() {
    return json;
  }

  public void json(boolean value) {
    json = value;
  }

  /**
   * Takes the form that the arguments name for a list.
   *
   * @throws WritException {@code CLI-001} for no such form, and for another one than {@code --json}
   *     where both are given
   */
  public void output(Arguments arguments) {
    Optional<String> named = arguments.option(CommandUsage.OUTPUT);
    if (named.isEmpty()) {
      return;
    }
    String form = Arguments.oneOf(CommandUsage.OUTPUT, named.get(), CommandUsage.FORMATS);
    if (json && !form.equals("json")) {
      throw new WritException(
          CliError.USAGE, CommandUsage.OUTPUT + " " + form + " and --json are two forms");
    }
    json = form.equals("json");
    terminal.csv(form.equals("csv"));
  }

  /**
   * Prints the result of a command: as JSON with {@code --json}, otherwise by the view, whose
   * tables are CSV where that was asked for.
   */
  public <T extends Report> void show(T report, BiConsumer<? super T, Terminal> view) {
    if (json) {
      terminal.out().writeBytes(Jcs.write(report.toJson()));
      terminal.out().println();
    } else {
      view.accept(report, terminal);
    }
  }

  /**
   * Reads a file that the caller named, {@code -} for standard input, whole. Of a file larger than
   * documents may be, one byte more than the limit is read, so that the parser refuses it with its
   * own code.
   *
   * @throws WritException {@code CLI-002}
   */
  public byte[] read(String file) {
    try {
      if (file.equals("-")) {
        return terminal.in().readNBytes(Limits.DEFAULT.bytesMax() + 1);
      }
      try (InputStream in = Files.newInputStream(Path.of(file))) {
        return in.readNBytes(Limits.DEFAULT.bytesMax() + 1);
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, FailureReport.describe(file, e), e);
    }
  }
}
