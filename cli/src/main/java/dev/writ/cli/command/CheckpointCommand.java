package dev.writ.cli.command;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;

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
        Homes.work(session, home -> new CloseCommand.Signed(home.kernel().checkpoint()));
    session.show(signed, (s, terminal) -> terminal.out().print(s.text()));
    return ExitCode.OK;
  }
}
