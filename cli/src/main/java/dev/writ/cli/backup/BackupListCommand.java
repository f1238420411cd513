package dev.writ.cli.backup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** {@code writ backup list}: the backups in a folder. */
final class BackupListCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "list", "List the backups in a folder, the latest first; needs no identity.")
        .argument("FOLDER", "The folder of the backups.")
        .list();
  }

  /**
   * @param damaged backups of which note or list is not as it was, by their numbers
   */
  private record Listed(
      String origin,
      List<String> recipients,
      List<Row> rows,
      TreeMap<Integer, WritException> damaged,
      Instant now)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("origin", origin)
          .putList("recipients", recipients, JsonValue::of)
          .putList("backups", rows, Row::toJson)
          .putList(
              "damaged",
              List.copyOf(damaged.descendingMap().entrySet()),
              each ->
                  JsonValue.object()
                      .put("number", each.getKey())
                      .put("problem", each.getValue().getMessage())
                      .build())
          .build();
    }
  }

  /**
   * One backup.
   *
   * @param bytes of all objects that it needs
   */
  private record Row(BackupNote note, long bytes) {
    JsonValue toJson() {
      return JsonValue.object()
          .put("number", note.number())
          .put("made_at", note.made())
          .put("incarnation", note.incarnation())
          .put("size", note.size())
          .put("root", note.root())
          .put("bytes", bytes)
          .put("log_key", note.key().toString())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.output(arguments);
    BackupFolder folder = BackupFolder.existing(Path.of(arguments.argument("FOLDER")));
    List<Row> rows = new ArrayList<>();
    TreeMap<Integer, WritException> damaged = new TreeMap<>();
    for (int number : folder.numbers().descendingSet()) {
      try {
        BackupNote note = folder.note(number, Optional.empty());
        rows.add(new Row(note, folder.objects(note).bytes()));
      } catch (WritException e) {
        damaged.put(number, e); // whoever has one that is damaged looks here for another
      }
    }
    session.show(
        new Listed(
            folder.origin(), folder.recipients().names(), rows, damaged, Homes.clock().instant()),
        BackupListCommand::print);
    return damaged.isEmpty() ? ExitCode.OK : ExitCode.BROKEN_INPUT;
  }

  private static void print(Listed listed, Terminal terminal) {
    Table table =
        new Table()
            .numbers("backup")
            .column("made", Table.Fit.CUT)
            .numbers("events")
            .numbers("incarnation")
            .numbers("bytes");
    for (Row row : listed.rows()) {
      table.row(
          Table.cell(row.note().number()),
          Table.time(row.note().made(), listed.now()),
          Table.cell(row.note().size()),
          Table.cell(row.note().incarnation()),
          Table.cell(row.bytes()));
    }
    terminal.print(table);
    listed
        .damaged()
        .descendingMap()
        .forEach((number, why) ->
            terminal.err().println(Text.printable("backup " + number + ": " + why.getMessage())));
  }
}
