package dev.writ.cli.backup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ backup prune}: removes all backups but the latest. */
final class BackupPruneCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("prune", "Remove all backups but the latest, and what only they need.")
        .argument("FOLDER", "The folder of the backups.")
        .option("--keep", "N", "How many stay, at least 1.");
  }

  private record Pruned(List<Integer> removed, int objects, int kept) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList("removed", removed, JsonValue::of)
          .put("removed_objects", objects)
          .put("kept", kept)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    long keep =
        arguments
            .integer("--keep", 1, Integer.MAX_VALUE)
            .orElseThrow(() -> new WritException(CliError.USAGE, "--keep N is missing"));
    BackupFolder folder = BackupFolder.existing(Path.of(arguments.argument("FOLDER")));
    try (BackupWriter writer = BackupWriter.open(folder)) {
      session.show(prune(writer, keep), BackupPruneCommand::print);
      return ExitCode.OK;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "the folder: " + e.getMessage(), e);
    }
  }

  private static Pruned prune(BackupWriter writer, long keep) throws IOException {
    BackupFolder folder = writer.folder();
    List<Integer> numbers = new ArrayList<>(folder.numbers().descendingSet());
    List<Integer> kept = numbers.stream().limit(keep).toList();
    List<Integer> removed = numbers.stream().skip(keep).toList();
    // Read before anything is removed: a list that is damaged must not have its objects removed.
    StoredObjects needed = new StoredObjects();
    for (int number : kept) {
      folder.objects(folder.note(number, Optional.empty())).forEach(needed::add);
    }
    for (int number : removed) {
      writer.remove(number);
    }
    return new Pruned(removed, writer.sweep(needed), kept.size());
  }

  private static void print(Pruned pruned, Terminal terminal) {
    terminal
        .out()
        .println(
            "removed "
                + pruned.removed().size()
                + " backups and "
                + pruned.objects()
                + " objects; "
                + pruned.kept()
                + " backups stay");
  }
}
