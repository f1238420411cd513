package dev.writ.cli.command.machine;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.doctor.DiagnosticArchive;
import dev.writ.cli.doctor.HostFinding;
import dev.writ.cli.doctor.MendPlan;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.nio.file.Path;
import java.util.function.Function;
import picocli.CommandLine;

/** {@code writ doctor}: looks at what Writ needs from this machine. The model of a command. */
public final class DoctorCommand implements CliCommand {
  private static final String FIX = "--fix";
  private static final String YES = "--yes";
  private static final String ARCHIVE = "--archive";
  private static final String LOG = "--log";

  private final Function<Session, CommandLine> commands;

  /**
   * @param commands the whole command line, which a shell completes
   */
  public DoctorCommand(Function<Session, CommandLine> commands) {
    this.commands = commands;
  }

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "doctor", "Check what Writ needs from this machine, and say what is missing.")
        .flag(FIX, "Show what can be mended safely, and how.")
        .flag(YES, "With --fix: do it.")
        .option(
            ARCHIVE,
            "FILE",
            "Write a new ZIP file for whoever helps: what was found, versions, sizes, and no"
                + " secret.")
        .option(LOG, "FILE", "With --archive: the server's log, whose last lines are put in.")
        .example("doctor --fix")
        .example("doctor --archive diagnosis.zip --log writ.log");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    if (arguments.has(YES) && !arguments.has(FIX)) {
      throw new WritException(CliError.USAGE, YES + " is an answer to " + FIX);
    }
    if (arguments.option(LOG).isPresent() && arguments.option(ARCHIVE).isEmpty()) {
      throw new WritException(CliError.USAGE, LOG + " is for " + ARCHIVE);
    }
    if (arguments.option(ARCHIVE).isPresent() && arguments.has(FIX)) {
      throw new WritException(CliError.USAGE, FIX + " and " + ARCHIVE + " are two commands");
    }
    Health health = Health.examine(session, commands);
    if (arguments.option(ARCHIVE).isPresent()) {
      archive(session, health, arguments);
      return ExitCode.OK;
    }
    if (arguments.has(FIX)) {
      return fix(session, health, arguments.has(YES));
    }
    session.show(health, DoctorCommand::print);
    return health.isGood() ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  private static void archive(Session session, Health health, Arguments arguments) {
    DiagnosticArchive.Written written =
        DiagnosticArchive.write(
            Path.of(arguments.option(ARCHIVE).orElseThrow()),
            new DiagnosticArchive.Source(
                Homes.place(session),
                session.environment(),
                VersionCommand.Versions.found().toJson(),
                health.toJson(),
                arguments.option(LOG).map(Path::of)));
    session.show(
        written,
        (shown, terminal) ->
            terminal.out().println(shown.file() + ": " + String.join(", ", shown.entries())));
  }

  private static ExitCode fix(Session session, Health health, boolean isAgreed) {
    MendPlan plan = MendPlan.of(health.findings());
    MendPlan shown = isAgreed ? plan.done() : plan;
    session.show(shown, DoctorCommand::print);
    if (shown.hasFailed()) {
      return ExitCode.UNAVAILABLE;
    }
    return isAgreed || shown.steps().isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
  }

  private static void print(MendPlan plan, Terminal terminal) {
    for (MendPlan.Step step : plan.steps()) {
      terminal.out().println("# " + Text.printable(step.finding().found()));
      terminal
          .out()
          .println(
              step.failure()
                  .map(why ->
                      terminal.paint(Style.BAD, "not done")
                          + "  "
                          + Text.printable(step.text() + ": " + why))
                  .orElse(
                      (plan.isDone() ? terminal.paint(Style.GOOD, "done") : "would")
                          + "  "
                          + Text.printable(step.text())));
    }
    for (HostFinding finding : plan.rest()) {
      terminal.out().println("# " + Text.printable(finding.what() + ": " + finding.found()));
      finding.command().ifPresent(line -> terminal.out().println("yours  " + Text.printable(line)));
    }
    if (plan.steps().isEmpty()) {
      terminal.out().println("There is nothing that doctor can mend.");
    } else if (!plan.isDone()) {
      terminal
          .out()
          .println(
              "Nothing was changed. To do this: " + Homes.name(terminal) + " doctor --fix --yes");
    }
  }

  private static void print(Health health, Terminal terminal) {
    Table table =
        new Table()
            .column("", Table.Fit.KEEP)
            .column("what", Table.Fit.KEEP)
            .column("found", Table.Fit.WRAP);
    for (HostFinding finding : health.findings()) {
      Style style =
          switch (finding.state()) {
            case GOOD -> Style.GOOD;
            case NOTE -> Style.DIM;
            case WARNING -> Style.WARN;
            case BAD -> Style.BAD;
          };
      table.row(
          Table.cell(finding.state().sign(), style),
          Table.cell(finding.what()),
          Table.cell(withHelp(finding, terminal)));
    }
    terminal.print(table);
    terminal.out().println();
    terminal
        .out()
        .println(health.isGood() ? "Writ can run here." : "Writ cannot run here: see \"bad\".");
  }

  private static String withHelp(HostFinding finding, Terminal terminal) {
    String help =
        finding.mend().isPresent()
            ? Homes.name(terminal) + " doctor " + FIX
            : finding.command().orElse("");
    return help.isEmpty() || finding.found().contains(help)
        ? finding.found()
        : finding.found() + ": " + help;
  }
}
