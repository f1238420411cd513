package dev.writ.cli.backup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Terminal;
import dev.writ.ledger.note.NoteKey;
import java.nio.file.Path;

/** {@code writ restore}: a backup as a new home, in service as its next incarnation. */
public final class RestoreCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "restore",
            "Put a backup back as a new data directory, and take it into service.",
            "It is named with --home and must not exist. The ledger is examined first, and begins"
                + " its next incarnation: every intent issued before is void.")
        .option("--from", "FOLDER", "The folder of the backups.")
        .option("--identity", "FILE", BackupVerifyCommand.IDENTITY)
        .option("--at", "N", "The number of the backup (default: the latest).")
        .option("--log-key", "KEY", BackupVerifyCommand.LOG_KEY)
        .option("--keys", "DIR", "A folder with the key files that the backup does not have.")
        .flag(
            "--accept-loss",
            "Go on although the anchor saw more events than the backup has: those are lost.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String from =
        arguments
            .option("--from")
            .orElseThrow(() -> new WritException(CliError.USAGE, "--from FOLDER is missing"));
    BackupRestore.Restored restored;
    try (Progress progress = new Progress(session.terminal())) {
      BackupContents contents =
          BackupContents.of(
              BackupFolder.existing(Path.of(from)),
              BackupVerifyCommand.number(arguments),
              arguments.option("--log-key").map(NoteKey::parse),
              BackupVerifyCommand.identities(session, arguments),
              progress);
      restored =
          BackupRestore.restore(
              contents,
              Homes.place(session),
              new BackupRestore.Order(
                  arguments.option("--keys").map(Path::of),
                  arguments.has("--accept-loss"),
                  Homes.clock(),
                  DurableFiles.REAL));
    }
    session.show(restored, RestoreCommand::print);
    return ExitCode.OK;
  }

  private static void print(BackupRestore.Restored restored, Terminal terminal) {
    terminal
        .out()
        .println(
            "restored backup "
                + restored.note().number()
                + " to "
                + restored.home()
                + ": "
                + restored.note().size()
                + " events");
    terminal
        .out()
        .println(
            "in service as incarnation "
                + restored.incarnation()
                + ": every intent issued before is void");
    terminal
        .out()
        .println("if a server of this installation still runs elsewhere, end it: both are a fork");
    restored
        .absent()
        .forEach(path -> terminal.out().println("not in the backup, put it back: " + path));
  }
}
