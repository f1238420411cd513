package dev.writ.cli.command;

import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Session;
import picocli.CommandLine.Command;

/** {@code writ checkpoint}: signs the log as it stands. */
@Command(
    name = "checkpoint",
    description = {
      "Sign the log as it stands and print the note (C2SP tlog-checkpoint).",
      "Who keeps it can tell later whether anything before it was changed."
    })
public final class CheckpointCommand implements CliCommand {
  private final Session session;

  public CheckpointCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    CloseCommand.Signed signed =
        Homes.work(session, home -> new CloseCommand.Signed(home.kernel().checkpoint()));
    session.show(signed, (s, terminal) -> terminal.out().print(s.text()));
    return ExitCode.OK;
  }
}
