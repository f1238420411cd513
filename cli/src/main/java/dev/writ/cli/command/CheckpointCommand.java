package dev.writ.cli.command;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.ledger.Checkpoint;

/** {@code writ checkpoint}: signs a checkpoint over the whole log. */
public final class CheckpointCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "checkpoint",
        "Sign a checkpoint of the whole log and print it (C2SP tlog-checkpoint).",
        "A kept checkpoint shows later whether anything before it was changed.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    CloseCommand.Signed signed =
        Homes.write(
            session,
            home -> new CloseCommand.Signed(home.kernel().checkpoint()),
            server ->
                new CloseCommand.Signed(
                    Checkpoint.parse(server.getBytes("/v1/checkpoints/latest", server.token()))));
    session.show(signed, (s, terminal) -> terminal.out().print(s.text()));
    return ExitCode.OK;
  }
}
