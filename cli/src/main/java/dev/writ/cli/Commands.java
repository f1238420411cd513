package dev.writ.cli;

import dev.writ.cli.command.ApproveCommand;
import dev.writ.cli.command.CanonCommand;
import dev.writ.cli.command.CheckpointCommand;
import dev.writ.cli.command.CloseCommand;
import dev.writ.cli.command.CompletionCommand;
import dev.writ.cli.command.DemoCommand;
import dev.writ.cli.command.DoctorCommand;
import dev.writ.cli.command.FsckCommand;
import dev.writ.cli.command.InitCommand;
import dev.writ.cli.command.KeyCommand;
import dev.writ.cli.command.OutputCommand;
import dev.writ.cli.command.PolicyCommand;
import dev.writ.cli.command.ReceiptsCommand;
import dev.writ.cli.command.ResolveCommand;
import dev.writ.cli.command.RunCommand;
import dev.writ.cli.command.RunsCommand;
import dev.writ.cli.command.ShowCommand;
import dev.writ.cli.command.SubmitCommand;
import dev.writ.cli.command.ToolCommand;
import dev.writ.cli.command.TrainCommand;
import dev.writ.cli.command.VersionCommand;
import java.util.List;

/** The commands, in the order that {@code writ --help} lists them. */
final class Commands {
  private Commands() {}

  static List<CliCommand> all(Session session) {
    return List.of(
        new DemoCommand(session),
        new InitCommand(session),
        new RunCommand(session),
        new SubmitCommand(session),
        new ApproveCommand(session),
        new ReceiptsCommand(session),
        new ShowCommand(session),
        new OutputCommand(session),
        new RunsCommand(session),
        new CloseCommand(session),
        new CheckpointCommand(session),
        new PolicyCommand(session),
        new KeyCommand(session),
        new ToolCommand(session),
        new ResolveCommand(session),
        new FsckCommand(session),
        new CanonCommand(session),
        new DoctorCommand(session),
        new CompletionCommand(session),
        new VersionCommand(session),
        new TrainCommand());
  }
}
