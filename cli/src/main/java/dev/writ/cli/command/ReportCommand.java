package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Progress;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.Checkpoint;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.report.ReportPage;
import dev.writ.tools.Drivers;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.SecondVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** {@code writ report}: needs no data directory. */
public final class ReportCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "report",
            "Write one page about the run in a bundle. The page contains the bundle,"
                + " verifies it in the browser when it is opened, and shows what it verified; it"
                + " loads nothing.",
            "With --verifier, write the page's verifier instead: verify.mjs, for Node and browsers,"
                + " written from the specification alone.")
        .optionalArgument("FILE", "The bundle.")
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
        .option(
            "--pdf",
            "FILE",
            "Print the page to a PDF by an installed Chromium, beside -o or in its place.")
        .flag("--replay", "Also replay the bundle, as `replay` does, and show what differs.")
        .flag("--verifier", "Write verify.mjs instead of a page.")
        .example("report main.writ --trust writ-data/trust.jwks --replay -o main.html")
        .example("report main.writ --trust writ-data/trust.jwks --pdf main.pdf");
  }

  /**
   * @param file the page or the verifier, or the PDF where it alone was asked for
   * @param seen of a page: what verifying its bundle gave
   */
  record Written(
      String file, long size, Optional<String> pdf, Optional<BundleVerifier.Verified> seen)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("file", file)
          .put("size", size)
          .putIfPresent("pdf", pdf, JsonValue::of)
          .putIfPresent("pinned", seen, verified -> JsonValue.of(verified.pinned()))
          .build();
    }

    String says() {
      return file
          + ": "
          + size
          + " bytes"
          + pdf.map(name -> ", and printed to " + name).orElse("")
          + seen.map(v -> v.pinned() ? ", pinned" : ", integrity only; signer not pinned")
              .orElse("");
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<String> page = arguments.option("-o");
    Optional<String> pdf = arguments.option("--pdf");
    if (page.isEmpty() && pdf.isEmpty()) {
      throw new WritException(CliError.USAGE, "report needs -o PAGE or --pdf FILE");
    }
    boolean verifier = arguments.has("--verifier");
    Optional<String> bundle = arguments.optionalArgument("FILE");
    if (verifier == bundle.isPresent() || (verifier && pdf.isPresent())) {
      throw new WritException(CliError.USAGE, "report takes a bundle, or --verifier with -o");
    }
    Written written;
    if (verifier) {
      String file = page.orElseThrow();
      OutputFile.write(Path.of(file), out -> out.write(SecondVerifier.source()));
      written = new Written(file, size(file), Optional.empty(), Optional.empty());
    } else {
      Optional<PagePrinter> printer = pdf.map(_ -> PagePrinter.of(session.environment()));
      Path source = readable(bundle.get());
      ReportPage.Options options =
          new ReportPage.Options(
              arguments.option("--trust").map(session::read).map(Trust::parse),
              arguments.has("--replay")
                  ? Optional.of(replayed(bundle.get(), session))
                  : Optional.empty(),
              arguments.option("--checkpoint").map(session::read).map(Checkpoint::parse),
              WitnessOptions.of(arguments));
      written = page(source, options, page, pdf, printer);
    }
    session.show(written, (done, terminal) -> terminal.out().println(done.says()));
    return ExitCode.OK;
  }

  /** The page where it was asked for, and the PDF of it. */
  private static Written page(
      Path source,
      ReportPage.Options options,
      Optional<String> page,
      Optional<String> pdf,
      Optional<PagePrinter> printer) {
    Path folder = null;
    try {
      folder = page.isPresent() ? null : Files.createTempDirectory("writ-report");
      Path file = page.map(Path::of).orElse(folder == null ? source : folder.resolve("page.html"));
      BundleVerifier.Verified[] verified = new BundleVerifier.Verified[1];
      OutputFile.write(file, out -> verified[0] = ReportPage.write(source, options, out));
      pdf.ifPresent(name ->
          OutputFile.write(Path.of(name), out -> out.write(printer.orElseThrow().print(file))));
      String named = page.or(() -> pdf).orElseThrow();
      return new Written(named, size(named), page.flatMap(_ -> pdf), Optional.of(verified[0]));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, String.valueOf(e.getMessage()), e);
    } finally {
      FormatExport.remove(folder);
    }
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
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
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
