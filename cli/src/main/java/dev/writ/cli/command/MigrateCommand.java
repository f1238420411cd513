package dev.writ.cli.command;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.Migration;
import java.net.URI;

/** {@code writ migrate}: moves a ledger's rows into another database. */
public final class MigrateCommand implements CliCommand {
  private static final String HERE = "rocksdb";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "migrate",
            "Move the ledger's rows into another database, and go on with the same log there.",
            "No server may run. The rows are read back and compared before anything reads them"
                + " there; those of before are left where they are, and not read any more.")
        .argument(
            "ADDRESS",
            "Where to: " + HERE + ", or such as postgresql://writ@db.example/writ?cell=0.");
  }

  record Moved(String to, long rows) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("rows", rows).put("to", to).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String to = arguments.argument("ADDRESS");
    URI address = to.equals(HERE) ? Migration.ROCKSDB : InitCommand.address("ADDRESS", to);
    Home home = Homes.home(session);
    long rows;
    try (Progress progress = new Progress(session.terminal())) {
      rows =
          Migration.move(
              new LedgerConfig(
                  home.ledger(), home.anchor(), home.origin(), home.key("log"), Homes.clock()),
              address,
              done -> progress.step("rows " + done));
    }
    session.show(new Moved(to, rows), MigrateCommand::print);
    return ExitCode.OK;
  }

  private static void print(Moved moved, Terminal terminal) {
    terminal.out().println("moved " + moved.rows() + " rows to " + moved.to());
    terminal
        .out()
        .println(
            "Those of before are not read any more. Remove them when you need no way back: what is"
                + " deleted from now on stays in them.");
  }
}
