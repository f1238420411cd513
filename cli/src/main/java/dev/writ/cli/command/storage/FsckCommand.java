package dev.writ.cli.command.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.SecondOpinion;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.FoundLines;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.command.key.KernelKeys;
import dev.writ.cli.command.machine.ClockCommand;
import dev.writ.cli.home.LogKeys;
import dev.writ.cli.home.NextIncarnation;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.ClockCheck;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import java.util.Optional;

/** {@code writ fsck}: rebuilds the ledger from its raw entries and compares. */
public final class FsckCommand implements CliCommand {
  private static final String LOG = KeyRole.LOG.text();

  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        CommandUsage.of(
                "fsck",
                "Rebuild chains, log, digests and checkpoints from the raw entries and compare.",
                "Only reads, also while a server runs, except with --restored.")
            .flag(
                "--second-opinion", "Have every canonical byte confirmed by erdtman's library too.")
            .flag(
                "--restored",
                "Take a ledger that was restored from a backup into service, as its next"
                    + " incarnation: every intent issued before is void, and an event records that."
                    + " The ledger is examined first."));
  }

  record Examined(FsckReport report) implements Report {
    @Override
    public JsonValue toJson() {
      return report.toJson();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    boolean restored = arguments.has("--restored");
    Home home = Homes.home(session);
    Optional<SigningKey> signs = restored ? Optional.of(home.key(LOG)) : Optional.empty();
    noteCell(session, home);
    LogKeys logKeys =
        LogKeys.of(
            home.inCell(CellPlacement.SYSTEM).ledger(),
            () -> home.key(LOG).verifyingKey(),
            GuardianCard.isIn(home));
    FsckReport report;
    try (Progress progress = new Progress(session.terminal())) {
      Fsck.Options options =
          Fsck.Options.of(home.ledger())
              .withLogKeys(logKeys.keys())
              .withProgress((step, done) -> progress.step(step + " " + done));
      if (!restored) {
        options = options.withAnchor(home.anchor());
      }
      if (arguments.has("--second-opinion")) {
        options = options.withSecondOpinion(SecondOpinion::check);
      }
      report = ofHome(home, logKeys.addTo(Fsck.check(options)));
    }
    session.show(new Examined(report), FsckCommand::print);
    if (!report.isSound()) {
      return ExitCode.BROKEN_INPUT;
    }
    ClockCheck clock = ClockCommand.check(session);
    if (clock.fit() != ClockCheck.Fit.FITS) {
      session.terminal().err().println("note: " + ClockCommand.found(clock));
      session.terminal().err().println(ClockCommand.remedy(session.terminal()));
    }
    noteOwnKey(session, home);
    if (signs.isPresent()) {
      long incarnation =
          NextIncarnation.begin(
              new LedgerConfig(
                  home.ledger(), home.anchor(), home.origin(), signs.get(), Homes.clock()),
              SystemWords.operator(home, arguments));
      session.terminal().err().println("in service as incarnation " + incarnation);
    }
    return ExitCode.OK;
  }

  /** A ledger may be sound that is another installation's: nothing opens it for work here. */
  private static FsckReport ofHome(Home home, FsckReport report) {
    String origin;
    try (LedgerView view = Ledger.openReadOnly(home.ledger())) {
      origin = view.origin();
    } catch (WritException e) {
      return report; // what is damaged is said there
    }
    return origin.equals(home.origin())
        ? report
        : report.withProblem(
            "origin", "the ledger is " + origin + ", the data directory's " + home.origin());
  }

  /** Else one log that is sound would be taken for the installation. */
  private static void noteCell(Session session, Home home) {
    if (home.cells() > 1) {
      session
          .terminal()
          .err()
          .println(
              "note: this is cell "
                  + home.cell()
                  + " of 0 to "
                  + (home.cells() - 1)
                  + "; the others: --cell N");
    }
  }

  /**
   * The log's key alone: a home has no other that fsck reads. It is told also before the next
   * incarnation, and does not keep that from beginning, since a key can be enrolled only behind it.
   */
  private static void noteOwnKey(Session session, Home home) {
    try {
      new KernelKeys(home, Homes.inForce(session), Homes.clock().instant())
          .require(KeyRole.LOG, home.key(LOG));
    } catch (WritException e) {
      if (e.code() == ExecutorError.OWN_KEY) {
        session.terminal().err().println("note: log key " + e.getMessage());
      }
    }
  }

  private static void print(Examined examined, Terminal terminal) {
    FsckReport report = examined.report();
    FoundLines.print(report.verified(), report.notVerified(), report.problems(), terminal);
    terminal
        .out()
        .println(
            report.isSound()
                ? terminal.paint(Style.GOOD, "sound")
                    + ": "
                    + report.treeSize()
                    + " events, root "
                    + report.root()
                : terminal.paint(Style.BAD, "NOT SOUND")
                    + ": "
                    + report.problemsTotal()
                    + " problems");
  }
}
