package dev.writ.cli.command.cells;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import java.util.List;

/** {@code writ cells}: what is about several logs of one installation (spec/cells.md). */
public final class CellsCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "cells",
        "Place and move tenants and cells, invite gateways, and show that one root covers all"
            + " cells.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    throw new IllegalStateException("a group of commands");
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
