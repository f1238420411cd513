package dev.writ.cli.command.witness;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import java.util.List;

/** {@code writ stamp}: checkpoints that a time stamp authority has stamped (spec/witness.md). */
public final class StampCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "stamp", "Have checkpoints stamped by time stamp authorities (RFC 3161).");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    throw new IllegalStateException("a group of commands");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new StampAsk());
  }
}
