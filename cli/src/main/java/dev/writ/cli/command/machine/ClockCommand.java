package dev.writ.cli.command.machine;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.executor.ClockCheck;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerConfig;
import java.time.Duration;
import java.util.List;

/**
 * {@code writ clock}: compares this host's clock with the ledger's time, and corrects the ledger's
 * time after a leap.
 */
public final class ClockCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "clock", "Compare this host's clock with the ledger's time, and sign a correction.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Status(), new Correct());
  }

  record Shown(ClockCheck check) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("clock", check.clock())
          .put("fits", check.fit() == ClockCheck.Fit.FITS)
          .put("idle_max_s", check.idleMax().toSeconds())
          .put("ledger", check.ledger())
          .build();
    }
  }

  /** The finding, in a sentence or two; the remedy is another text. */
  public static String found(ClockCheck check) {
    return switch (check.fit()) {
      case FITS -> "the clock fits the ledger";
      case BEHIND ->
          "the ledger is "
              + length(Duration.between(check.clock(), check.ledger()))
              + " ahead of the clock, so nothing is judged until the clock gets there";
      case AHEAD ->
          "the clock is "
              + length(Duration.between(check.ledger(), check.clock()))
              + " ahead of the ledger, and policy lets an installation stand idle for "
              + length(check.idleMax());
    };
  }

  /** What to do about what was found. */
  public static String remedy(Terminal terminal) {
    return "If the clock is wrong, set it. If it is right, an operator signs that: "
        + correction(terminal);
  }

  /** The command that signs that the clock is right. */
  public static String correction(Terminal terminal) {
    return Homes.name(terminal) + " clock correct";
  }

  private static String length(Duration time) {
    long days = time.toDays();
    return days > 0 ? days + (days == 1 ? " day" : " days") : time.toSeconds() + " s";
  }

  /** The clock beside the ledger's latest time. */
  public static ClockCheck check(Session session) {
    return Homes.read(session, view -> ClockCheck.of(view, Homes.clock().instant()));
  }

  private static void print(ClockCheck check, Terminal terminal) {
    boolean fits = check.fit() == ClockCheck.Fit.FITS;
    terminal.out().println("clock   " + Timestamps.format(check.clock()));
    terminal.out().println("ledger  " + Timestamps.format(check.ledger()));
    terminal.out().println(terminal.paint(fits ? Style.GOOD : Style.BAD, found(check)));
    if (!fits) {
      terminal.out().println(remedy(terminal));
    }
  }

  /** {@code writ clock status}. */
  static final class Status implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "status",
          "Compare the clock with the ledger's latest time.",
          "Only reads, also while a server runs. The exit status is 1 if the clock does not fit.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      ClockCheck check = check(session);
      session.show(new Shown(check), (shown, terminal) -> print(shown.check(), terminal));
      return check.fit() == ClockCheck.Fit.FITS ? ExitCode.OK : ExitCode.REFUSED;
    }
  }

  record Corrected(ClockCorrection correction) implements Report {
    @Override
    public JsonValue toJson() {
      return correction.toJson();
    }
  }

  /** {@code writ clock correct}. */
  static final class Correct implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.signer(
          CommandUsage.of(
                  "correct",
                  "Sign, with the operator's key, that the clock is right and the log's time"
                      + " continues from it.",
                  "No server may run. If time goes back, every intent issued before is void, and"
                      + " charges at later times count as made now.")
              .flag(
                  "--yes",
                  "The clock is right: sign. Without this option the command shows"
                      + " what it would sign."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      ClockCheck check = check(session);
      if (check.fit() != ClockCheck.Fit.FITS && !arguments.has("--yes")) {
        session.show(new Shown(check), (shown, terminal) -> ask(shown.check(), terminal));
        return ExitCode.REFUSED;
      }
      Home home = Homes.home(session);
      SigningKey operator = SystemWords.operator(home, arguments);
      ClockCorrection made =
          ClockCheck.correct(
              new LedgerConfig(
                  home.ledger(), home.anchor(), home.origin(), home.key("log"), Homes.clock()),
              correction -> signed(correction, operator));
      session.show(new Corrected(made), Correct::print);
      return ExitCode.OK;
    }

    private static Envelope signed(ClockCorrection correction, SigningKey operator) {
      return Envelope.sign(
          SystemChange.TYPE,
          new SystemChange(EventKind.CLOCK_CORRECTED, correction.toJson(), correction.to())
              .toJson(),
          operator);
    }

    private static void print(Corrected corrected, Terminal terminal) {
      ClockCorrection made = corrected.correction();
      terminal
          .out()
          .println(
              terminal.paint(Style.GOOD, "signed")
                  + ": the log's time goes on from "
                  + Timestamps.format(made.to())
                  + ", event "
                  + made.treeSize()
                  + made.incarnation().map(i -> ", incarnation " + i).orElse(""));
    }

    private static void ask(ClockCheck check, Terminal terminal) {
      ClockCommand.print(check, terminal);
      terminal
          .out()
          .println(
              "Nothing is signed yet. With --yes the operator's key signs, for this one place in"
                  + " the log: time goes on from the clock's, instead of "
                  + Timestamps.format(check.ledger())
                  + ".");
    }
  }
}
