package dev.writ.cli.command.cells;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.journal.EventKind;
import java.util.List;

/** {@code writ cells place}: states which cell has a tenant (spec/cells.md, "Placing"). */
final class CellsPlace implements CliCommand {
  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        SystemWords.options(
            CommandUsage.of(
                    "place",
                    "State which cell has a tenant, before a key is enrolled for it and before a"
                        + " policy names it.",
                    "Without such a statement the tenant's name decides. What has begun in a cell"
                        + " stays there until it is moved (`writ cells move`).")
                .argument("TENANT", "The tenant.")
                .argument("CELL", "The number of its cell, from 1.")
                .example("cells place acme 3")));
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    TenantPlace place =
        new TenantPlace(arguments.argument("TENANT"), cell(arguments.argument("CELL")));
    SystemWords.send(
        session,
        arguments,
        List.of(
            SystemWords.change(
                Homes.home(session), arguments, EventKind.TENANT_PLACED, place.toJson())));
    return ExitCode.OK;
  }

  /**
   * The number of a cell that can have tenants.
   *
   * @throws WritException {@code CLI-001}
   */
  static int cell(String text) {
    int cell = text.matches("[0-9]{1,3}") ? Integer.parseInt(text) : 0;
    if (cell < 1 || cell >= CellPlacement.CELLS_MAX) {
      throw new WritException(
          CliError.USAGE,
          "CELL is a number from 1 to " + (CellPlacement.CELLS_MAX - 1) + ", not " + text);
    }
    return cell;
  }
}
