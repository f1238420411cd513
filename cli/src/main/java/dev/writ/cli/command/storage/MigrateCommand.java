package dev.writ.cli.command.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.serve.InitCommand;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.ledger.ContentsMigration;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.Migration;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ migrate}: moves a ledger's rows into another database. */
public final class MigrateCommand implements CliCommand {
  private static final String HERE = "rocksdb";
  private static final String HOME = "home";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "migrate",
            "Move the ledger's rows into another database, or its large contents into another"
                + " store, and go on with the same log there.",
            "No server may run. What was copied is read back and compared before anything reads it"
                + " there; that of before is left where it is, and not read any more.")
        .optionalArgument(
            "ADDRESS",
            "Where rows go: " + HERE + ", or such as postgresql://writ@db.example/writ?cell=0.")
        .option(
            "--contents",
            "ADDRESS",
            "Where large contents go: "
                + HOME
                + ", or such as s3://writ/acme?region=eu-central-1. With an address of rows, after"
                + " these; "
                + HOME
                + ", before.");
  }

  /** What was moved where. */
  record Moved(String to, long moved, boolean isRows) {}

  record Moves(List<Moved> moves) implements Report {
    @Override
    public JsonValue toJson() {
      ObjectBuilder json = JsonValue.object();
      for (Moved moved : moves) {
        json.put(moved.isRows() ? "rows" : "contents", moved.moved())
            .put(moved.isRows() ? "to" : "contents_to", moved.to());
      }
      return json.build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<String> to = arguments.optionalArgument("ADDRESS");
    Optional<String> contentsTo = arguments.option("--contents");
    if (to.isEmpty() && contentsTo.isEmpty()) {
      throw new WritException(CliError.USAGE, "ADDRESS or --contents says where to");
    }
    Optional<URI> address =
        to.map(at -> at.equals(HERE) ? Migration.ROCKSDB : InitCommand.address("ADDRESS", at));
    Optional<URI> contents =
        contentsTo.filter(at -> !at.equals(HOME)).map(at -> InitCommand.address("--contents", at));
    Home home = Homes.home(session);
    if (home.cells() > 1) {
      throw new WritException(CliError.USAGE, "an installation of several cells stays where it is");
    }
    LedgerConfig config =
        new LedgerConfig(
            home.ledger(), home.anchor(), home.origin(), home.key("log"), Homes.clock());
    List<Moved> moves = new ArrayList<>();
    // Contents elsewhere need a database that counts its writers: on the way back they go first.
    boolean isBack = contentsTo.isPresent() && contents.isEmpty();
    try (Progress progress = new Progress(session.terminal())) {
      // Given again, the same command goes on where it was, and passes over what it has moved.
      if (isBack && !ContentsMigration.isAt(config, contents)) {
        moves.add(contents(config, contentsTo.get(), contents, progress));
      }
      if (address.isPresent() && !Migration.isAt(config, address.get())) {
        long rows = Migration.move(config, address.get(), done -> progress.step("rows " + done));
        moves.add(new Moved(to.get(), rows, true));
      }
      if (contents.isPresent() && !ContentsMigration.isAt(config, contents)) {
        moves.add(contents(config, contentsTo.get(), contents, progress));
      }
    }
    session.show(new Moves(moves), MigrateCommand::print);
    return ExitCode.OK;
  }

  private static Moved contents(
      LedgerConfig config, String to, Optional<URI> address, Progress progress) {
    long moved = ContentsMigration.move(config, address, done -> progress.step("contents " + done));
    return new Moved(to, moved, false);
  }

  private static void print(Moves moves, Terminal terminal) {
    if (moves.moves().isEmpty()) {
      terminal.out().println("Nothing was moved: it is there already.");
      return;
    }
    for (Moved moved : moves.moves()) {
      String what = moved.isRows() ? " rows to " : " large contents to ";
      terminal.out().println("moved " + moved.moved() + what + moved.to());
    }
    terminal
        .out()
        .println(
            "Those of before are not read any more. Remove them when you need no way back: what is"
                + " deleted from now on stays in them.");
  }
}
