package dev.writ.cli;

import dev.writ.cli.backup.BackupCommand;
import dev.writ.cli.backup.RestoreCommand;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.command.ApprovalsCommand;
import dev.writ.cli.command.ApproveCommand;
import dev.writ.cli.command.ArchiveCommand;
import dev.writ.cli.command.AuditCommand;
import dev.writ.cli.command.BenchCommand;
import dev.writ.cli.command.CanonCommand;
import dev.writ.cli.command.CellsCommand;
import dev.writ.cli.command.CheckpointCommand;
import dev.writ.cli.command.ClockCommand;
import dev.writ.cli.command.CloseCommand;
import dev.writ.cli.command.CompletionCommand;
import dev.writ.cli.command.ConfigCommand;
import dev.writ.cli.command.ConformCommand;
import dev.writ.cli.command.ConsoleCommand;
import dev.writ.cli.command.DemoCommand;
import dev.writ.cli.command.DiffCommand;
import dev.writ.cli.command.DoctorCommand;
import dev.writ.cli.command.EraseCommand;
import dev.writ.cli.command.ExecutorCommand;
import dev.writ.cli.command.ExportCommand;
import dev.writ.cli.command.FsckCommand;
import dev.writ.cli.command.GcCommand;
import dev.writ.cli.command.HoldCommand;
import dev.writ.cli.command.ImageCommand;
import dev.writ.cli.command.IncidentCommand;
import dev.writ.cli.command.InitCommand;
import dev.writ.cli.command.InspectCommand;
import dev.writ.cli.command.KeyCommand;
import dev.writ.cli.command.LogCommand;
import dev.writ.cli.command.ManCommand;
import dev.writ.cli.command.McpCommand;
import dev.writ.cli.command.MigrateCommand;
import dev.writ.cli.command.OutputCommand;
import dev.writ.cli.command.PolicyCommand;
import dev.writ.cli.command.ReceiptsCommand;
import dev.writ.cli.command.ReplayCommand;
import dev.writ.cli.command.ReportCommand;
import dev.writ.cli.command.ResolveCommand;
import dev.writ.cli.command.RetentionCommand;
import dev.writ.cli.command.RunCommand;
import dev.writ.cli.command.RunsCommand;
import dev.writ.cli.command.RuntimeCommand;
import dev.writ.cli.command.SecretCommand;
import dev.writ.cli.command.ServeCommand;
import dev.writ.cli.command.ShowCommand;
import dev.writ.cli.command.SinkCommand;
import dev.writ.cli.command.StampCommand;
import dev.writ.cli.command.SubmitCommand;
import dev.writ.cli.command.ToolCommand;
import dev.writ.cli.command.TopCommand;
import dev.writ.cli.command.TrainCommand;
import dev.writ.cli.command.UpgradeCommand;
import dev.writ.cli.command.VerifyCommand;
import dev.writ.cli.command.VerifyPeerCommand;
import dev.writ.cli.command.VersionCommand;
import dev.writ.cli.command.WitnessCommand;
import dev.writ.cli.hook.HookCommand;
import dev.writ.cli.setup.SetupCommand;
import java.util.List;

/**
 * The commands, in the order that {@code writ --help} lists them. A new command is one line here.
 */
final class Commands {
  static final List<CliCommand> ALL =
      List.of(
          new DemoCommand(),
          new InitCommand(),
          new RunCommand(),
          new SubmitCommand(),
          new ApprovalsCommand(),
          new ApproveCommand(),
          new LogCommand(),
          new TopCommand(),
          new ReceiptsCommand(),
          new ShowCommand(),
          new OutputCommand(),
          new RunsCommand(),
          new CloseCommand(),
          new CheckpointCommand(),
          new CellsCommand(),
          new WitnessCommand(),
          new StampCommand(),
          new PolicyCommand(),
          new KeyCommand(),
          new ToolCommand(),
          new RuntimeCommand(),
          new ImageCommand(),
          new SecretCommand(),
          new ResolveCommand(),
          new ClockCommand(),
          new FsckCommand(),
          new GcCommand(),
          new BackupCommand(),
          new RestoreCommand(),
          new UpgradeCommand(),
          new MigrateCommand(),
          new RetentionCommand(),
          new HoldCommand(),
          new EraseCommand(),
          new ArchiveCommand(),
          new AuditCommand(),
          new ExportCommand(),
          new InspectCommand(),
          new VerifyCommand(),
          new VerifyPeerCommand(),
          new ReplayCommand(),
          new DiffCommand(),
          new ReportCommand(),
          new CanonCommand(),
          new ConformCommand(),
          new ServeCommand(),
          new ExecutorCommand(),
          new ConsoleCommand(),
          new McpCommand(),
          new HookCommand(),
          new SetupCommand(),
          new ConfigCommand(),
          new SinkCommand(),
          new IncidentCommand(),
          new DoctorCommand(Cli::commandLine),
          new BenchCommand(),
          new CompletionCommand(Cli::commandLine),
          new VersionCommand(),
          new ManCommand(Cli::commandLine),
          new TrainCommand((session, line) -> new Cli(session).run(line)));

  private Commands() {}

  /** Those that these arguments can mean: the one they name, or all where they name none. */
  static List<CliCommand> meantBy(List<String> args, List<CliCommand> all) {
    String word = word(args);
    for (CliCommand command : all) {
      if (command.usage().name().equals(word)) {
        return List.of(command);
      }
    }
    return all;
  }

  /** The first argument that is no option and no option's value. */
  static String word(List<String> args) {
    for (int i = 0; i < args.size(); i++) {
      if (args.get(i).equals("--home") || args.get(i).equals("--cell")) {
        i++;
      } else if (!args.get(i).startsWith("-")) {
        return args.get(i);
      }
    }
    return "";
  }
}
