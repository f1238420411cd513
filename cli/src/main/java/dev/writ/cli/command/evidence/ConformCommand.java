package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.base.Version;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.op.Operations;
import dev.writ.conform.run.ConformanceProfile;
import dev.writ.conform.run.ConformanceReport;
import dev.writ.conform.run.ConformanceReport.Result;
import dev.writ.conform.run.ConformanceReport.Sum;
import dev.writ.conform.run.ConformanceReport.Verdict;
import dev.writ.conform.run.Implementation;
import dev.writ.conform.run.JUnitXml;
import dev.writ.conform.run.LocalImplementation;
import dev.writ.conform.run.ProcessImplementation;
import dev.writ.conform.run.Runner;
import dev.writ.conform.run.Statement;
import dev.writ.conform.run.Vectors;
import dev.writ.tools.Drivers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** {@code writ conform}: needs no data directory. */
public final class ConformCommand implements CliCommand {
  private static final String VECTORS = "golden-vectors";

  /** How many vectors that did not pass are listed on the terminal. */
  private static final int SHOWN_MAX = 40;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "conform",
            "Check this implementation, or any that speaks the adapter protocol, against the"
                + " golden vectors.",
            "`conform adapter` serves this implementation on standard input and output;"
                + " `conform index` writes the vectors' index again. spec/conformance.md has the"
                + " protocol.")
        .optionalArgument("ACTION", "run (the default), adapter or index.")
        .option(
            "--profile",
            "L1|L2|L3",
            "How much to run; each profile includes those before it (default: L3).")
        .options("--suite", "NAME", "Only this folder of vectors; may be repeated.")
        .option(
            "--command", "COMMAND", "The implementation's adapter, for example \"python3 a.py\".")
        .option(
            "--timeout",
            "SECONDS",
            "The limit for one operation of the command" + " (default: 30).")
        .option("--vectors", "DIR", "The golden vectors.")
        .option("--junit", "FILE", "Write the results as JUnit XML.")
        .option("--statement", "FILE", "Write a signed conformance statement (in-toto).")
        .option("--key", "FILE", "The key that signs it.")
        .option("--artifact", "FILE", "The tested file, which the statement names by digest.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    String action =
        Arguments.oneOf(
            "ACTION",
            arguments.optionalArgument("ACTION").orElse("run"),
            List.of("run", "adapter", "index"));
    return switch (action) {
      case "adapter" -> {
        try (Drivers drivers = Drivers.withoutProcesses()) {
          adapter(drivers).serve(session.terminal().in(), session.terminal().out());
        }
        yield ExitCode.OK;
      }
      case "index" -> {
        session.show(
            new Indexed(Vectors.writeIndex(folder(arguments))),
            (indexed, terminal) -> terminal.out().println("Wrote " + indexed.file()));
        yield ExitCode.OK;
      }
      default -> hold(session, arguments);
    };
  }

  /** A written index of vectors. */
  private record Indexed(Path file) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("file", file.toString()).build();
    }
  }

  record Held(ConformanceReport report) implements Report {
    @Override
    public JsonValue toJson() {
      return report.toJson();
    }
  }

  private static ExitCode hold(Session session, Arguments arguments) {
    arguments.option("--junit").ifPresent(OutputFile::requireNew);
    arguments.option("--statement").ifPresent(OutputFile::requireNew);
    Optional<SigningKey> key = key(session, arguments);
    ConformanceProfile profile =
        ConformanceProfile.valueOf(
            Arguments.oneOf(
                "--profile",
                arguments.option("--profile").orElse("L3").toUpperCase(Locale.ROOT),
                ConformanceProfile.ALL.stream().map(ConformanceProfile::name).toList()));
    Duration timeout = Duration.ofSeconds(arguments.integer("--timeout", 1, 3600).orElse(30L));
    Vectors vectors = Vectors.load(folder(arguments));
    ConformanceReport report;
    try (Drivers drivers = Drivers.withoutProcesses();
        Implementation implementation = implementation(arguments, timeout, drivers);
        Progress progress = new Progress(session.terminal())) {
      report =
          Runner.run(
              vectors,
              new Runner.Selection(profile, arguments.options("--suite")),
              implementation,
              progress::step);
    }
    arguments.option("--junit").ifPresent(file -> OutputFile.write(file, JUnitXml.of(report)));
    key.ifPresent(k -> write(arguments, report, k));
    session.show(new Held(report), (held, terminal) -> print(held.report(), terminal));
    return report.count(Verdict.FAILED) > 0
        ? ExitCode.DIVERGED
        : report.conforms() ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  /**
   * The folder of vectors: the one that is named, one in this directory, or the one installed with
   * the program.
   */
  private static Path folder(Arguments arguments) {
    Optional<Path> named = arguments.option("--vectors").map(Path::of);
    if (named.isPresent()) {
      return named.get();
    }
    Path here = Path.of(VECTORS);
    if (Files.isDirectory(here)) {
      return here;
    }
    try {
      return Path.of(Homes.program()).toRealPath().resolveSibling(VECTORS);
    } catch (IOException e) {
      return here; // missing: refused by this name when it is read
    }
  }

  private static Adapter adapter(Drivers drivers) {
    return new Adapter(Operations.with(List.copyOf(drivers.byName().values())));
  }

  private static Implementation implementation(
      Arguments arguments, Duration timeout, Drivers drivers) {
    return arguments
        .option("--command")
        .<Implementation>map(command -> new ProcessImplementation(command, timeout))
        .orElseGet(() -> new LocalImplementation("writ " + Version.text(), adapter(drivers)));
  }

  /** Reads the key first, so that a run is not made in vain. */
  private static Optional<SigningKey> key(Session session, Arguments arguments) {
    Optional<String> file = arguments.option("--key");
    if (file.isPresent() != arguments.option("--statement").isPresent()) {
      throw new WritException(CliError.USAGE, "--statement and --key belong together");
    }
    return file.map(
        name -> KeyFiles.read(Path.of(name), () -> session.passphrases().of(Path.of(name))));
  }

  private static void write(Arguments arguments, ConformanceReport report, SigningKey key) {
    Digest subject =
        arguments
            .option("--artifact")
            .map(file -> Statement.subject(Path.of(file)))
            .or(() -> arguments.option("--command").map(Statement::subjectOf))
            .orElseGet(Statement::subjectOfThisProgram);
    OutputFile.write(
        arguments.option("--statement").orElseThrow(),
        new String(Statement.sign(report, subject, key).toBytes(), StandardCharsets.UTF_8));
  }

  private static void print(ConformanceReport report, Terminal terminal) {
    Table table =
        new Table()
            .column("suite", Table.Fit.KEEP)
            .column("profile", Table.Fit.KEEP)
            .numbers("vectors")
            .numbers("passed")
            .numbers("failed")
            .numbers("unsupported")
            .numbers("seconds");
    report.sums().forEach(sum -> row(sum, table));
    terminal.print(table);
    List<Result> wrong =
        report.results().stream().filter(r -> r.verdict() != Verdict.PASSED).toList();
    wrong.stream()
        .limit(SHOWN_MAX)
        .forEach(result -> {
          String word = result.verdict().name().toLowerCase(Locale.ROOT);
          terminal
              .out()
              .println(
                  terminal.paint(Style.BAD, word)
                      + "  "
                      + Text.printable(
                          result.vector().name()
                              + " ("
                              + result.vector().about()
                              + "): "
                              + result.detail()));
        });
    if (wrong.size() > SHOWN_MAX) {
      terminal.out().println("… and " + (wrong.size() - SHOWN_MAX) + " more: see --json");
    }
    terminal.out().println(summary(report, terminal));
  }

  private static void row(Sum sum, Table table) {
    table.row(
        Table.cell(sum.suite()),
        Table.cell(sum.profile().name()),
        Table.cell(String.valueOf(sum.vectors())),
        Table.cell(String.valueOf(sum.passed())),
        Table.cell(String.valueOf(sum.failed()), sum.failed() > 0 ? Style.BAD : Style.PLAIN),
        Table.cell(
            String.valueOf(sum.unsupported()), sum.unsupported() > 0 ? Style.BAD : Style.PLAIN),
        Table.cell(String.format(Locale.ROOT, "%.2f", sum.micros() / 1e6)));
  }

  private static String summary(ConformanceReport report, Terminal terminal) {
    String verdict =
        report.conforms()
            ? terminal.paint(Style.GOOD, "conforms")
            : terminal.paint(Style.BAD, "does not conform");
    return Text.printable(report.implementation())
        + " "
        + verdict
        + ": "
        + report.selection()
        + ", "
        + report.count(Verdict.PASSED)
        + " passed, "
        + report.count(Verdict.FAILED)
        + " failed, "
        + report.count(Verdict.UNSUPPORTED)
        + " unsupported\nvectors "
        + report.vectors();
  }
}
