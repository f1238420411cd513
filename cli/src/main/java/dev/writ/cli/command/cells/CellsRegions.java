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
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.storage.LeaseWatch;
import java.util.List;
import java.util.Optional;

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
                    "The latest statement about a cell counts; --anywhere takes back what was"
                        + " stated. A gateway's region stands in its gateway.yaml. What becomes of"
                        + " the cell's owner is told on stderr.")
                .argument("CELL", "The number of the cell, from 1.")
                .moreArguments("REGION", "Its regions: at least one, or --anywhere instead.")
                .flag("--anywhere", "Gateways of any region may own it, and those of none.")
                .option(
                    "--elsewhere",
                    "WHAT",
                    "What gateways of other regions do with requests for it: forward (the default)"
                        + " or refuse.")
                .example("cells regions 3 eu-1 eu-2 --elsewhere refuse")
                .example("cells regions 3 --anywhere")));
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    requireWhere(arguments);
    JsonValue.Obj detail =
        JsonValue.object()
            .put("cell", CellsPlace.cell(arguments.argument("CELL")))
            .put(
                "elsewhere",
                arguments.option("--elsewhere").orElse(CellRegions.FromElsewhere.FORWARD.text()))
            .putList("regions", arguments.moreArguments("REGION"), JsonValue::of)
            .build();
    CellRegions regions = read(detail);
    Home home = Homes.home(session);
    // Before, since a gateway gives the cell up as soon as it sees the statement.
    Optional<String> line = whatBecomesOfIt(home, regions);
    SystemWords.send(
        session,
        arguments,
        List.of(SystemWords.change(home, arguments, EventKind.CELL_PLACED, regions.toJson())));
    line.ifPresent(told -> session.terminal().err().println(Text.printable(told)));
    return ExitCode.OK;
  }

  /** A list that came out empty, of a script say, does not let the cell go anywhere. */
  private static void requireWhere(Arguments arguments) {
    boolean names = !arguments.moreArguments("REGION").isEmpty();
    if (!arguments.has("--anywhere")) {
      if (!names) {
        throw new WritException(
            CliError.USAGE, "name a REGION at least; where it may be in any, say --anywhere");
      }
    } else if (names || arguments.option("--elsewhere").isPresent()) {
      throw new WritException(
          CliError.USAGE, "--anywhere names all regions: it takes no REGION and no --elsewhere");
    }
  }

  /** What the statement does to the cell is told, and nothing refuses it. */
  private static Optional<String> whatBecomesOfIt(Home home, CellRegions regions) {
    try (LeaseWatch watch = LedgerPlaces.watch(home.inCell(CellPlacement.SYSTEM).ledger())) {
      Optional<String> owner =
          watch.askAll(home.cells()).stream()
              .filter(log -> log.cell() == regions.cell() && log.isHeld())
              .map(LeaseWatch.Ownership::address)
              .findFirst();
      return StatedRegions.told(regions, watch.living(), owner);
    } catch (WritException e) {
      return Optional.of(
          "who owns cell " + regions.cell() + " could not be read: " + e.code().code());
    }
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
