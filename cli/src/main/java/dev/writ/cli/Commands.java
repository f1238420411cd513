package dev.writ.cli;

import dev.writ.cli.backup.BackupCommand;
import dev.writ.cli.backup.RestoreCommand;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.command.cells.CellsCommand;
import dev.writ.cli.command.evidence.AuditCommand;
import dev.writ.cli.command.evidence.CanonCommand;
import dev.writ.cli.command.evidence.ConformCommand;
import dev.writ.cli.command.evidence.DiffCommand;
import dev.writ.cli.command.evidence.ExportCommand;
import dev.writ.cli.command.evidence.InspectCommand;
import dev.writ.cli.command.evidence.ReplayCommand;
import dev.writ.cli.command.evidence.ReportCommand;
import dev.writ.cli.command.evidence.VerifyCommand;
import dev.writ.cli.command.evidence.VerifyPeerCommand;
import dev.writ.cli.command.executor.ExecutorCommand;
import dev.writ.cli.command.key.KeyCommand;
import dev.writ.cli.command.key.SecretCommand;
import dev.writ.cli.command.machine.BenchCommand;
import dev.writ.cli.command.machine.ClockCommand;
import dev.writ.cli.command.machine.CompletionCommand;
import dev.writ.cli.command.machine.ConsoleCommand;
import dev.writ.cli.command.machine.DoctorCommand;
import dev.writ.cli.command.machine.ManCommand;
import dev.writ.cli.command.machine.TrainCommand;
import dev.writ.cli.command.machine.VersionCommand;
import dev.writ.cli.command.mcp.McpCommand;
import dev.writ.cli.command.policy.PolicyCommand;
import dev.writ.cli.command.run.ApprovalsCommand;
import dev.writ.cli.command.run.ApproveCommand;
import dev.writ.cli.command.run.CheckpointCommand;
import dev.writ.cli.command.run.CloseCommand;
import dev.writ.cli.command.run.LogCommand;
import dev.writ.cli.command.run.OutputCommand;
import dev.writ.cli.command.run.ReceiptsCommand;
import dev.writ.cli.command.run.ResolveCommand;
import dev.writ.cli.command.run.RunCommand;
import dev.writ.cli.command.run.RunsCommand;
import dev.writ.cli.command.run.ShowCommand;
import dev.writ.cli.command.run.SubmitCommand;
import dev.writ.cli.command.run.TopCommand;
import dev.writ.cli.command.serve.ConfigCommand;
import dev.writ.cli.command.serve.DemoCommand;
import dev.writ.cli.command.serve.IncidentCommand;
import dev.writ.cli.command.serve.InitCommand;
import dev.writ.cli.command.serve.ServeCommand;
import dev.writ.cli.command.serve.SinkCommand;
import dev.writ.cli.command.storage.ArchiveCommand;
import dev.writ.cli.command.storage.EraseCommand;
import dev.writ.cli.command.storage.FsckCommand;
import dev.writ.cli.command.storage.GcCommand;
import dev.writ.cli.command.storage.HoldCommand;
import dev.writ.cli.command.storage.MigrateCommand;
import dev.writ.cli.command.storage.RetentionCommand;
import dev.writ.cli.command.storage.UpgradeCommand;
import dev.writ.cli.command.tool.ImageCommand;
import dev.writ.cli.command.tool.RuntimeCommand;
import dev.writ.cli.command.tool.ToolCommand;
import dev.writ.cli.command.witness.StampCommand;
import dev.writ.cli.command.witness.WitnessCommand;
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
