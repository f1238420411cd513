package dev.writ.cli.command.machine;

import dev.writ.bench.Bench;
import dev.writ.bench.BenchReport;
import dev.writ.bench.Growth;
import dev.writ.bench.GrowthReport;
import dev.writ.bench.Plan;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Progress;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
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
        .flag("--quick", "A minute instead of seven.")
        .option(
            "--growth",
            "N",
            "How cost grows, with 1,000 effects, 10,000 and so on up to N, instead; writes the"
                + " plot growth.svg into the folder of --dir, too.")
        .option("--only", "TEXT", "Only the steps whose names contain this.")
        .option(
            "--database",
            "URI",
            "Effects in this PostgreSQL database, too (postgresql://USER@HOST/DATABASE); the schema"
                + " writ_bench is made there, and removed.")
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

  record Grown(GrowthReport report) implements Report {
    @Override
    public JsonValue toJson() {
      return report.toJson();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    if (arguments.option("--growth").isPresent()) {
      return growth(session, arguments);
    }
    Measured measured;
    try (Progress progress = new Progress(session.terminal())) {
      measured =
          new Measured(
              Bench.measure(
                  arguments.has("--quick") ? Plan.QUICK : Plan.FULL,
                  arguments.option("--only").orElse(""),
                  arguments.option("--database").map(BenchCommand::address),
                  Path.of(arguments.option("--dir").orElse(System.getProperty("java.io.tmpdir"))),
                  progress::step));
    }
    session.show(measured, (found, terminal) -> found.report().print(terminal.out()));
    return ExitCode.OK;
  }

  private static ExitCode growth(Session session, Arguments arguments) throws IOException {
    Path folder = Path.of(arguments.option("--dir").orElse(System.getProperty("java.io.tmpdir")));
    Grown grown;
    try (Progress progress = new Progress(session.terminal())) {
      grown = new Grown(Growth.measure(effects(arguments), folder, progress::step));
    }
    Files.writeString(folder.resolve("growth.svg"), grown.report().plot());
    session.show(grown, (found, terminal) -> found.report().print(terminal.out()));
    return ExitCode.OK;
  }

  private static URI address(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      // Not repeated: somebody may have written a password into it.
      throw new WritException(CliError.USAGE, "--database takes an address", e);
    }
  }

  private static int effects(Arguments arguments) {
    String text = arguments.option("--growth").orElseThrow();
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new WritException(CliError.USAGE, "--growth takes a number of effects: " + text, e);
    }
  }
}
