package dev.writ.cli.command.cells;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.journal.EventKind;
import java.util.List;

/** {@code writ cells regions}: states where a cell may be (spec/cells.md, "Regions"). */
final class CellsRegions implements CliCommand {
  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        SystemWords.options(
            CommandUsage.of(
                    "regions",
                    "State in which regions gateways may own a cell: its home first, then those"
                        + " that take it over where no gateway of an earlier one lives.",
                    "The latest statement about a cell counts. A gateway's region stands in its"
                        + " gateway.yaml.")
                .argument("CELL", "The number of the cell, from 1.")
                .moreArguments("REGION", "Its regions, at least one.")
                .option(
                    "--elsewhere",
                    "WHAT",
                    "What gateways of other regions do with requests for it: forward (the default)"
                        + " or refuse.")
                .example("cells regions 3 eu-1 eu-2 --elsewhere refuse")));
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    JsonValue.Obj detail =
        JsonValue.object()
            .put("cell", CellsPlace.cell(arguments.argument("CELL")))
            .put(
                "elsewhere",
                arguments.option("--elsewhere").orElse(CellRegions.FromElsewhere.FORWARD.text()))
            .putList("regions", arguments.moreArguments("REGION"), JsonValue::of)
            .build();
    CellRegions regions = read(detail);
    SystemWords.send(
        session,
        arguments,
        List.of(
            SystemWords.change(
                Homes.home(session), arguments, EventKind.CELL_PLACED, regions.toJson())));
    return ExitCode.OK;
  }

  /** A slip of the hand is refused before it is signed. */
  private static CellRegions read(JsonValue.Obj detail) {
    try {
      return CellRegions.read(detail);
    } catch (WritException e) {
      throw new WritException(CliError.USAGE, e.found(), e);
    }
  }
}
