package dev.writ.cli.command.cells;

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
import dev.writ.embed.home.Home;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Placements;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** {@code writ cells list}: where tenants and cells are, as operators stated it. */
final class CellsList implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "list",
            "Show the cells of the installation: where each may be, and which of the tenants that"
                + " are known it has.",
            "Reads the system cell's log. `GET /v1/cells` of a gateway shows who owns them.")
        .list();
  }

  /**
   * One cell.
   *
   * @param elsewhere what is done with requests from elsewhere; empty where it may be anywhere
   * @param tenants those that were placed here, or that a key or policy has named
   */
  record Row(int cell, List<String> regions, Optional<String> elsewhere, List<String> tenants) {
    static Row of(int cell, int count, Placements placed) {
      var regions = placed.regionsOf(cell);
      TreeSet<String> known = new TreeSet<>(placed.named());
      known.addAll(placed.tenants().keySet());
      return new Row(
          cell,
          regions.map(r -> r.regions()).orElse(List.of()),
          regions.map(r -> r.elsewhere().text()),
          known.stream().filter(tenant -> placed.cellOf(tenant, count) == cell).toList());
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("cell", cell)
          .putIfPresent("elsewhere", elsewhere, JsonValue::of)
          .putList("regions", regions, JsonValue::of)
          .putList("tenants", tenants, JsonValue::of)
          .build();
    }
  }

  private record Rows(List<Row> rows) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().putList("cells", rows, Row::toJson).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.meansSystem();
    Home home = Homes.home(session).inCell(CellPlacement.SYSTEM);
    Placements placed = Homes.inForce(session).placements();
    int count = home.cells();
    session.show(
        new Rows(IntStream.range(0, count).mapToObj(cell -> Row.of(cell, count, placed)).toList()),
        CellsList::print);
    return ExitCode.OK;
  }

  private static void print(Rows rows, Terminal terminal) {
    Table table =
        new Table()
            .numbers("cell")
            .column("regions", Table.Fit.WRAP)
            .column("elsewhere", Table.Fit.KEEP)
            .column("tenants", Table.Fit.WRAP);
    rows.rows()
        .forEach(row ->
            table.row(
                Table.cell(String.valueOf(row.cell())),
                Table.cell(row.regions().isEmpty() ? "any" : String.join(", ", row.regions())),
                Table.cell(row.elsewhere().orElse("")),
                Table.cell(String.join(", ", row.tenants()))));
    terminal.print(table, "There is no cell.");
  }
}
