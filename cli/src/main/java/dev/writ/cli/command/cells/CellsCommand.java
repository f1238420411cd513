package dev.writ.cli.command.cells;

import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import java.util.List;

/** {@code writ cells}: what is about several logs of one installation (spec/cells.md). */
public final class CellsCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "cells",
        "Place and move tenants and cells, invite gateways, and show that one root covers all"
            + " cells.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new CellsList(),
        new CellsPlace(),
        new CellsMove(),
        new CellsRegions(),
        new CellsProve(),
        new CellsInvite());
  }
}
