package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.FoundLines;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.Drivers;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;

/** {@code writ audit}: verifies every signature and recomputes every decision and balance. */
public final class AuditCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "audit",
        "Verify every signature, judge every decision again, and add up balances, rates,"
            + " nonces and receipts over all runs. Only reads, also while a server runs; `fsck`"
            + " checks the bytes.");
  }

  record Audited(AuditReport report) implements Report {
    @Override
    public JsonValue toJson() {
      return report.toJson();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.home(session);
    AuditReport report;
    try (Progress progress = new Progress(session.terminal());
        Drivers drivers = Drivers.withoutProcesses();
        LedgerView ledger = OpenHome.read(home)) {
      Homes.expectSignatures(ledger.treeSize());
      report =
          Audit.check(
              ledger,
              OpenHome.tools(home, drivers),
              (step, done) -> progress.step(step + " " + done));
    }
    session.show(new Audited(report), AuditCommand::print);
    return report.isSound() ? ExitCode.OK : ExitCode.BROKEN_INPUT;
  }

  private static void print(Audited audited, Terminal terminal) {
    AuditReport report = audited.report();
    FoundLines.print(report.verified(), report.notVerified(), report.problems(), terminal);
    terminal
        .out()
        .println(
            report.isSound()
                ? terminal.paint(Style.GOOD, "sound")
                    + ": "
                    + report.totals().events()
                    + " events of "
                    + report.totals().runs()
                    + " runs"
                : terminal.paint(Style.BAD, "NOT SOUND")
                    + ": "
                    + report.problemsTotal()
                    + " problems");
  }
}
