package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.command.Since;
import dev.writ.cli.command.witness.StampOptions;
import dev.writ.cli.command.witness.WitnessOptions;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Progress;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.report.ReportPage;
import dev.writ.tools.Drivers;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.SecondVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ report}: of bundles it needs no data directory. */
public final class ReportCommand implements CliCommand {
  private static final List<String> SELECTING = List.of("--tenant", "--from", "--to");

  /** As many as an audit job takes. */
  private static final int RUNS_MAX = 1000;

  private static final int SAMPLE_MAX = 1000;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "report",
            "Write one page about the runs in bundles. The page contains the bundles,"
                + " verifies them in the browser when it is opened, and shows what it verified; it"
                + " loads nothing. Several runs are added up, and each can be opened.",
            "Without bundles, and with --tenant, --from or --to: over the runs of the data"
                + " directory of which an event lies in that period.",
            "With --verifier, write the page's verifier instead: verify.mjs, for Node and browsers,"
                + " written from the specification alone.")
        .moreArguments("FILE", "The bundles, or runs of the data directory, also archived ones.")
        .option("-o", "PAGE", "The file to write; an existing one is never overwritten.")
        .option(
            "--trust",
            "JWKS",
            "Keys that you pin for the reader. The page says that they are your choice; a"
                + " reader can use other keys.")
        .option("--checkpoint", "NOTE", "A checkpoint that you kept, or that witnesses cosigned.")
        .options(
            "--witness", "VKEY", "The key of a witness that must have cosigned that checkpoint.")
        .option("--quorum", "N", "So many of the witnesses are enough (default: all).")
        .options("--stamp", "TSR", "A time stamp of that checkpoint; it must hold.")
        .option("--tsa-ca", "FILE", "The authorities that certify those who stamp, in PEM.")
        .option("--tenant", "TENANT", "Whose runs (default: the home's own tenant).")
        .option("--from", "TIME", "Runs with an event at that time or later: 7d, 2026-11-24.")
        .option("--to", "TIME", "Runs with an event before that time.")
        .option("--sample", "N", "Draw so many effects, with --seed: the same again for anybody.")
        .option(
            "--seed", "TEXT", "What the sample is drawn by: choose it when the runs are closed.")
        .option(
            "--pdf",
            "FILE",
            "Print the page to a PDF by an installed Chromium, beside -o or in its place.")
        .flag("--replay", "Also replay the bundle, as `replay` does, and show what differs.")
        .flag("--verifier", "Write verify.mjs instead of a page.")
        .example("report main.writ --trust writ-data/trust.jwks --replay -o main.html")
        .example("report main.writ --trust writ-data/trust.jwks --pdf main.pdf")
        .example("report --from 30d --trust writ-data/trust.jwks -o month.html");
  }

  /**
   * @param file the page or the verifier, or the PDF where it alone was asked for
   * @param seen of a page: what verifying each of its bundles gave
   */
  record Written(String file, long size, Optional<String> pdf, List<BundleVerifier.Verified> seen)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("file", file)
          .put("size", size)
          .putIfPresent("pdf", pdf, JsonValue::of)
          .putIfPresent("pinned", pinned(), JsonValue::of)
          .putIfPresent(
              "runs", Optional.of(seen.size()).filter(n -> n > 1), n -> JsonValue.of((long) n))
          .build();
    }

    private Optional<Boolean> pinned() {
      return seen.isEmpty()
          ? Optional.empty()
          : Optional.of(seen.stream().allMatch(BundleVerifier.Verified::pinned));
    }

    String says() {
      return file
          + ": "
          + size
          + " bytes"
          + pdf.map(name -> ", and printed to " + name).orElse("")
          + (seen.size() > 1 ? ", of " + seen.size() + " runs" : "")
          + pinned().map(is -> is ? ", pinned" : ", integrity only; signer not pinned").orElse("");
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<String> page = arguments.option("-o");
    Optional<String> pdf = arguments.option("--pdf");
    if (page.isEmpty() && pdf.isEmpty()) {
      throw new WritException(CliError.USAGE, "report needs -o PAGE or --pdf FILE");
    }
    List<String> named = arguments.moreArguments("FILE");
    boolean chosen = SELECTING.stream().anyMatch(arguments::has);
    if (arguments.has("--verifier")) {
      if (!named.isEmpty() || chosen || pdf.isPresent()) {
        throw new WritException(CliError.USAGE, "--verifier takes -o and nothing else");
      }
      String file = page.orElseThrow();
      OutputFile.write(Path.of(file), out -> out.write(SecondVerifier.source()));
      show(session, new Written(file, size(file), Optional.empty(), List.of()));
      return ExitCode.OK;
    }
    if (named.isEmpty() != chosen) {
      throw new WritException(
          CliError.USAGE,
          "report takes bundles, or --tenant, --from or --to for runs of the data directory");
    }
    if (arguments.has("--replay") && named.size() != 1) {
      throw new WritException(CliError.USAGE, "--replay is of one bundle");
    }
    Optional<ReportPage.Sampling> sample = sample(arguments);
    Optional<PagePrinter> printer = pdf.map(_ -> PagePrinter.of(session.environment()));
    try (NamedBundles bundles = new NamedBundles(session);
        TemporaryDirectory folder = TemporaryDirectory.create("writ-report")) {
      Path file = page.map(Path::of).orElse(folder.path().resolve("page.html"));
      List<BundleVerifier.Verified> seen =
          chosen
              ? ofHome(session, arguments, sample, folder.path(), file)
              : ofFiles(
                  session, arguments, sample, named.stream().map(bundles::file).toList(), file);
      pdf.ifPresent(name ->
          OutputFile.write(Path.of(name), out -> out.write(printer.orElseThrow().print(file))));
      String output = page.or(() -> pdf).orElseThrow();
      show(session, new Written(output, size(output), page.flatMap(_ -> pdf), seen));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, String.valueOf(e.getMessage()), e);
    }
    return ExitCode.OK;
  }

  private static void show(Session session, Written written) {
    session.show(written, (done, terminal) -> terminal.out().println(done.says()));
  }

  private static Optional<ReportPage.Sampling> sample(Arguments arguments) {
    Optional<Long> size = arguments.integer("--sample", 1, SAMPLE_MAX);
    Optional<String> seed = arguments.option("--seed");
    if (size.isPresent() != seed.isPresent()) {
      throw new WritException(CliError.USAGE, "--sample N and --seed TEXT belong together");
    }
    if (seed.filter(String::isBlank).isPresent()) {
      throw new WritException(CliError.USAGE, "--seed TEXT has nothing but blanks");
    }
    return size.map(n -> new ReportPage.Sampling(n.intValue(), seed.orElseThrow()));
  }

  private static Optional<Checkpoint> kept(Session session, Arguments arguments) {
    return NamedFile.of(session, arguments, "--checkpoint", Checkpoint::parse);
  }

  private static List<BundleVerifier.Verified> ofFiles(
      Session session,
      Arguments arguments,
      Optional<ReportPage.Sampling> sample,
      List<String> bundles,
      Path file) {
    List<Path> sources = bundles.stream().map(ReportCommand::readable).toList();
    return written(
        sources,
        new ReportPage.Options(
            NamedTrust.of(session, arguments),
            arguments.has("--replay")
                ? Optional.of(replayed(bundles.getFirst(), session))
                : Optional.empty(),
            Optional.empty(),
            sample,
            kept(session, arguments),
            WitnessOptions.of(arguments),
            StampOptions.ofCheckpoint(session, arguments)),
        file);
  }

  /** Of runs that are exported into a folder for it, as {@code writ export} does. */
  private static List<BundleVerifier.Verified> ofHome(
      Session session,
      Arguments arguments,
      Optional<ReportPage.Sampling> sample,
      Path folder,
      Path file) {
    Home home = Homes.home(session);
    Instant now = Homes.clock().instant();
    ReportPage.Selection selection =
        new ReportPage.Selection(
            arguments.option("--tenant").orElseGet(home::tenant),
            time(arguments, "--from", now),
            time(arguments, "--to", now));
    InstalledTools tools = new InstalledTools(ToolRegistry.open(home.tools()), List.of());
    List<Path> sources = new ArrayList<>();
    try (LedgerView ledger = OpenHome.read(home)) {
      for (RunId run : chosen(ledger, selection)) {
        Path bundle = folder.resolve(sources.size() + ".writ");
        NamedBundles.noteErasure(session, ledger, run);
        new HomeArchive(home).write(ledger, run, tools, bundle);
        sources.add(bundle);
      }
    }
    return written(
        sources,
        new ReportPage.Options(
            NamedTrust.of(session, arguments),
            Optional.empty(),
            Optional.of(selection),
            sample,
            kept(session, arguments),
            WitnessOptions.of(arguments),
            StampOptions.ofCheckpoint(session, arguments)),
        file);
  }

  private static Optional<Instant> time(Arguments arguments, String option, Instant now) {
    return arguments.option(option).map(text -> Timestamps.truncate(Since.parse(text, now)));
  }

  /** The runs of a selection, open ones too. */
  private static List<RunId> chosen(LedgerView ledger, ReportPage.Selection selection) {
    List<RunId> runs = new ArrayList<>();
    ledger.runs(run -> {
      if (run.tenant().equals(selection.tenant()) && touches(ledger, run, selection)) {
        runs.add(run);
      }
    });
    if (runs.isEmpty() || runs.size() > RUNS_MAX) {
      throw new WritException(
          EmbedError.NOT_FOUND,
          runs.size()
              + " runs of tenant "
              + selection.tenant()
              + " in that period, 1 to "
              + RUNS_MAX);
    }
    return runs;
  }

  private static boolean touches(LedgerView ledger, RunId run, ReportPage.Selection selection) {
    Instant last = ledger.head(run).orElseThrow().at();
    Instant first = ledger.event(run, 0).orElseThrow().at();
    return selection.from().filter(last::isBefore).isEmpty()
        && selection.to().filter(end -> !first.isBefore(end)).isEmpty();
  }

  private static List<BundleVerifier.Verified> written(
      List<Path> sources, ReportPage.Options options, Path file) {
    List<BundleVerifier.Verified> seen = new ArrayList<>();
    OutputFile.write(file, out -> seen.addAll(ReportPage.write(sources, options, out)));
    return seen;
  }

  private static JsonValue replayed(String bundle, Session session) {
    try (Progress progress = new Progress(session.terminal());
        Drivers drivers = Drivers.withoutProcesses();
        BundleFile file = BundleFile.verified(bundle, Optional.empty())) {
      ReplayOptions options =
          new ReplayOptions(
              false,
              true,
              List.copyOf(drivers.byName().values()),
              events -> progress.step("replayed event " + events));
      return new Replay(file.recording().ahead(), options).run().toJson();
    }
  }

  private static Path readable(String name) {
    Path file = Path.of(name);
    if (!Files.isReadable(file) || !Files.isRegularFile(file)) {
      throw new WritException(EmbedError.FILE_UNREADABLE, name + " is no file");
    }
    return file;
  }

  private static long size(String name) {
    try {
      return Files.size(Path.of(name));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, name + ": " + e.getMessage(), e);
    }
  }
}
