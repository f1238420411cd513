package dev.writ.cli.backup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.ledger.note.NoteKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** {@code writ backup verify}: reads a backup back. */
final class BackupVerifyCommand implements CliCommand {
  /** What tells the home of an executor apart. It holds no secret. */
  private static final String CARD = "guardian.apart";

  static final String IDENTITY = "A file with the age key of one of the folder's recipients.";
  static final String LOG_KEY =
      "The log key that must have signed, as `writ backup` printed it (default: any).";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "verify",
            "Read a backup back: signature, digests, and where it can be read the ledger in it.",
            "The ledger is put into a temporary directory, examined as by fsck, and removed.")
        .argument("FOLDER", "The folder of the backups.")
        .option("--identity", "FILE", IDENTITY)
        .option("--at", "N", "The number of the backup (default: the latest).")
        .option("--log-key", "KEY", LOG_KEY)
        .option("--scratch", "DIR", "Where the temporary directory is made.");
  }

  private record Verified(BackupNote note, boolean isExamined) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("number", note.number())
          .put("size", note.size())
          .put("root", note.root())
          .put("ledger_examined", isExamined)
          .put("log_key", note.key().toString())
          .build();
    }
  }

  /** The identities in the file that an option names. */
  static AgeIdentities identities(Session session, Arguments arguments) {
    return arguments
        .option("--identity")
        .map(session::read)
        .map(AgeIdentities::parse)
        .orElse(AgeIdentities.NONE);
  }

  static Optional<Integer> number(Arguments arguments) {
    return arguments.integer("--at", 1, Integer.MAX_VALUE).map(Long::intValue);
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    BackupContents contents;
    try (Progress progress = new Progress(session.terminal())) {
      contents =
          BackupContents.of(
              BackupFolder.existing(Path.of(arguments.argument("FOLDER"))),
              number(arguments),
              arguments.option("--log-key").map(NoteKey::parse),
              identities(session, arguments),
              progress);
      contents.requireStored();
      if (contents.isReadable()) {
        examine(contents, arguments.option("--scratch").map(Path::of));
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, "the backup: " + e.getMessage(), e);
    }
    session.show(new Verified(contents.note(), contents.isReadable()), BackupVerifyCommand::print);
    return ExitCode.OK;
  }

  private static void examine(BackupContents contents, Optional<Path> scratch) throws IOException {
    try (TemporaryDirectory dir =
        scratch.isPresent()
            ? TemporaryDirectory.in(scratch.get(), "writ-verify")
            : TemporaryDirectory.create("writ-verify")) {
      contents.putInto(
          DurableFiles.REAL,
          dir.path(),
          contents.files(),
          file -> file.path().startsWith("ledger/") || file.path().equals(CARD));
      contents.requireSound(new Home(dir.path(), () -> null));
    }
  }

  private static void print(Verified verified, Terminal terminal) {
    BackupNote note = verified.note();
    terminal
        .out()
        .println(
            "backup "
                + note.number()
                + (verified.isExamined() ? ": sound, " : ": all files are as stated, ")
                + note.size()
                + " events, root "
                + note.root());
    if (!verified.isExamined()) {
      terminal.out().println("not verified: the ledger in it, without --identity FILE");
    }
  }
}
