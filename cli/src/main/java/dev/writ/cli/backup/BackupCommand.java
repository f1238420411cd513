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
import java.nio.file.Path;
import java.util.List;

/** {@code writ backup}: the installation as it is now, in a folder of backups. */
public final class BackupCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "backup",
            "Back the installation up, also while a server runs; see what backups there are.",
            "A further backup in a folder writes only what is not there yet.")
        .option("--to", "FOLDER", "The folder of the backups, made where there is none.")
        .options(
            "--recipient",
            "AGE",
            "Encrypt to this public key of age, age1…; the folder keeps to those of its first"
                + " backup.")
        .flag(
            "--without-secrets",
            "Leave private keys without a passphrase, secrets and unknown files out of a backup"
                + " that is not encrypted.");
  }

  @Override
  public boolean runsByItself() {
    return true;
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new BackupListCommand(), new BackupVerifyCommand(), new BackupPruneCommand());
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String folder =
        arguments
            .option("--to")
            .orElseThrow(() -> new WritException(CliError.USAGE, "--to FOLDER is missing"));
    BackupMaker.Order order =
        new BackupMaker.Order(
            Path.of(folder).toAbsolutePath().normalize(),
            new AgeRecipients(arguments.options("--recipient")),
            arguments.has("--without-secrets"),
            Homes.clock().instant());
    BackupMaker.Made made;
    try (Progress progress = new Progress(session.terminal())) {
      made = BackupMaker.make(Homes.home(session), order, DurableFiles.REAL, progress);
    }
    session.show(made, BackupCommand::print);
    return ExitCode.OK;
  }

  private static void print(BackupMaker.Made made, Terminal terminal) {
    terminal
        .out()
        .println(
            "backup "
                + made.note().number()
                + ": "
                + made.note().size()
                + " events, "
                + made.files()
                + " files, "
                + made.bytes()
                + " bytes");
    terminal
        .out()
        .println(
            "  new     "
                + made.newBytes()
                + " bytes in "
                + made.newObjects()
                + " files; the others are those of earlier backups");
    made.leftOut().forEach(path -> terminal.out().println("  without " + path));
    terminal.out().println("  log key " + made.note().key());
  }
}
