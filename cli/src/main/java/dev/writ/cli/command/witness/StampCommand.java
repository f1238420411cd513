package dev.writ.cli.command.witness;

import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import java.util.List;

/** {@code writ stamp}: checkpoints that a time stamp authority has stamped (spec/witness.md). */
public final class StampCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "stamp", "Have checkpoints stamped by time stamp authorities (RFC 3161).");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new StampAsk());
  }
}
