package dev.writ.cli.command.witness;

import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import java.util.List;

/** {@code writ witness}: checkpoints that others have seen (spec/witness.md). */
public final class WitnessCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "witness",
        "Have checkpoints cosigned by witnesses, be a witness, and compare what two people hold.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new WitnessServe(), new WitnessAsk(), new WitnessCompare());
  }
}
