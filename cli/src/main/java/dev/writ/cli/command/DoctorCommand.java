package dev.writ.cli.command;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;

/** {@code writ doctor}: looks at what Writ needs from this machine. The model of a command. */
public final class DoctorCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "doctor", "Check what Writ needs from this machine, and say what is missing.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Health health = Health.examine(session);
    session.show(health, DoctorCommand::print);
    return health.isGood() ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  private static void print(Health health, Terminal terminal) {
    Table table =
        new Table()
            .column("", Table.Fit.KEEP)
            .column("what", Table.Fit.KEEP)
            .column("found", Table.Fit.WRAP);
    for (Health.Finding finding : health.findings()) {
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
          Table.cell(finding.found()));
    }
    terminal.print(table);
    terminal.out().println();
    terminal
        .out()
        .println(health.isGood() ? "Writ can run here." : "Writ cannot run here: see \"bad\".");
  }
}
