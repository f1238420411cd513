package dev.writ.cli.command;

import dev.writ.bench.Bench;
import dev.writ.bench.BenchReport;
import dev.writ.bench.Plan;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Progress;
import java.io.IOException;
import java.nio.file.Path;

/**
 * {@code writ bench}: compares the time of each step with its floor, the least that it could take.
 */
public final class BenchCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "bench",
            "Measure each step against its floor, side by side in one run.",
            "Ratios of one run can be compared; times of two machines cannot. bench/README.md says"
                + " what each row means.")
        .flag("--quick", "About 20 seconds instead of two minutes.")
        .option("--only", "TEXT", "Only the steps whose names contain this.")
        .option(
            "--dir",
            "DIR",
            "Where to write; the disk affects the results (default: the folder for temporary"
                + " files).");
  }

  record Measured(BenchReport report) implements Report {
    @Override
    public JsonValue toJson() {
      return report.toJson();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    Measured measured;
    try (Progress progress = new Progress(session.terminal())) {
      measured =
          new Measured(
              Bench.measure(
                  arguments.has("--quick") ? Plan.QUICK : Plan.FULL,
                  arguments.option("--only").orElse(""),
                  Path.of(arguments.option("--dir").orElse(System.getProperty("java.io.tmpdir"))),
                  progress::step));
    }
    session.show(measured, (found, terminal) -> found.report().print(terminal.out()));
    return ExitCode.OK;
  }
}
