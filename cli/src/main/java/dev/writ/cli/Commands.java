package dev.writ.cli;

import dev.writ.cli.command.CanonCommand;
import dev.writ.cli.command.CompletionCommand;
import dev.writ.cli.command.DoctorCommand;
import dev.writ.cli.command.TrainCommand;
import dev.writ.cli.command.VersionCommand;
import java.util.List;

/** The commands, in the order that {@code writ --help} lists them. */
final class Commands {
  private Commands() {}

  static List<CliCommand> all(Session session) {
    return List.of(
        new CanonCommand(session),
        new DoctorCommand(session),
        new CompletionCommand(session),
        new VersionCommand(session),
        new TrainCommand());
  }
}
