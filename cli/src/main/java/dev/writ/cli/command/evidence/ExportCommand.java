package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.BundleFiles;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;

/** {@code writ export}. */
public final class ExportCommand implements CliCommand {
  private static final List<String> ONLY_IN_BUNDLES =
      List.of("--reads", "--without-blobs", "--without-tools");

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "export",
            "Write the bundle of one run: journal, documents, content, tool manifests and proofs in"
                + " one file, for `verify` anywhere. Only reads, also while a server runs.",
            "The same run gives the same bytes; that of an archived run is the archive's, until"
                + " contents of it are erased by order. An open"
                + " run is exported up to the latest checkpoint, a closed one up to the checkpoint"
                + " of its closing.",
            "With --format, write what became of each request in another system's format instead,"
                + " from a bundle that verifies. Parameters, inputs and outputs are not in it.")
        .argument("RUN|FILE", "The run's name, see `writ runs`; with --format also a bundle.")
        .option(
            "-o",
            "FILE",
            "The file to write; an existing one is never overwritten. With --format the"
                + " terminal where it is left out, and for cose-receipt, scitt and tlog-proof a"
                + " folder.")
        .option("--format", "FORMAT", "One of " + String.join(", ", FormatExport.names()) + ".")
        .option(
            "--key", "PEM", "With --format in-toto and scitt: the key that signs the statements.")
        .flag(
            "--receipts",
            "With --format scitt: put a receipt of COSE into each statement. It is signed by the"
                + " log's own key, as with --format cose-receipt, so a run of this home is named.")
        .option("--trust", "JWKS", "With --format: keys that you pin, as `verify` takes them.")
        .option("--tenant", "TENANT", "The run's tenant (default: the home's own).")
        .option(
            "--checkpoint",
            "NOTE",
            "A checkpoint that you kept: the bundle proves that its log is consistent with it;"
                + " with --format cose-receipt a receipt does.")
        .flag(
            "--latest",
            "Export a closed run up to the latest checkpoint, too: the bundle then shows"
                + " which keys were revoked since.")
        .flag(
            "--reads",
            "Add what the log states of people's reads of the run, up to the latest checkpoint.")
        .flag("--without-blobs", "Leave out inputs and outputs; their digests stay.")
        .flag("--without-tools", "Leave out the tools' manifests and packages.")
        .example("export main -o main.writ");
  }

  record Exported(RunId run, String file, Digest digest, long size) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("digest", digest)
          .put("file", file)
          .put("run", run.run())
          .put("size", size)
          .put("tenant", run.tenant())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<String> format = arguments.option("--format");
    if (format.isPresent()) {
      formatted(session, arguments, FormatExport.of(session, arguments, format.get()));
      return ExitCode.OK;
    }
    if (arguments.has("--key") || arguments.has("--trust") || arguments.has("--receipts")) {
      throw new WritException(CliError.USAGE, "--key, --trust and --receipts belong to --format");
    }
    String name =
        arguments
            .option("-o")
            .orElseThrow(() -> new WritException(CliError.USAGE, "export needs -o FILE"));
    Path file = Path.of(name);
    Optional<Checkpoint> kept = NamedFile.of(session, arguments, "--checkpoint", Checkpoint::parse);
    RunId run =
        bundle(
            session,
            arguments,
            new BundleExport.Options(
                !arguments.has("--without-blobs"),
                !arguments.has("--without-tools"),
                kept,
                arguments.has("--latest") || arguments.has("--reads"),
                arguments.has("--reads")),
            file);
    session.show(
        exported(run, file),
        (exported, terminal) ->
            terminal
                .out()
                .println(
                    exported.file()
                        + ": "
                        + exported.run()
                        + ", "
                        + exported.size()
                        + " bytes, "
                        + exported.digest()));
    return ExitCode.OK;
  }

  /** The run that the command names. */
  static RunId named(Session session, Arguments arguments) {
    Home home = Homes.place(session);
    home.requireExisting();
    String name = arguments.argument("RUN|FILE");
    return arguments
        .option("--tenant")
        .map(tenant -> new RunId(tenant, name))
        .orElseGet(() -> NamedRuns.named(session, home.tenant(), name));
  }

  private static RunId bundle(
      Session session, Arguments arguments, BundleExport.Options options, Path file) {
    RunId run = named(session, arguments);
    Home home = Homes.homeOf(session, run);
    InstalledTools tools = new InstalledTools(ToolRegistry.open(home.tools()), List.of());
    try (LedgerView ledger = OpenHome.read(home)) {
      if (options.equals(BundleExport.Options.WHOLE)) {
        NamedBundles.noteErasure(session, ledger, run);
        new HomeArchive(home).write(ledger, run, tools, file);
      } else {
        BundleFiles.write(ledger, run, tools, options, file);
      }
    }
    return run;
  }

  private static void formatted(Session session, Arguments arguments, FormatExport format) {
    for (String option : ONLY_IN_BUNDLES) {
      if (arguments.has(option)) {
        throw new WritException(CliError.USAGE, option + " and --format exclude one another");
      }
    }
    String named = arguments.argument("RUN|FILE");
    Optional<FormatExport.Exported> exported;
    if (Files.isRegularFile(Path.of(named))) {
      if (format.isOfHome()) {
        throw new WritException(
            CliError.USAGE,
            "receipts are signed by the log of the home: name a run of it, not a file");
      }
      exported = format.write(session, named);
    } else {
      exported = ofRun(session, arguments, format);
    }
    exported.ifPresent(written ->
        session.show(
            written,
            (e, terminal) ->
                terminal
                    .out()
                    .println(e.file() + ": " + e.outcomes() + " of format " + e.format())));
  }

  /** By way of a bundle, without contents, that is verified and deleted again. */
  private static Optional<FormatExport.Exported> ofRun(
      Session session, Arguments arguments, FormatExport format) {
    try (TemporaryDirectory folder = TemporaryDirectory.create("writ-export")) {
      Path file = folder.path().resolve("run.writ");
      BundleExport.Options options =
          new BundleExport.Options(
              false, false, Optional.empty(), arguments.has("--latest"), false);
      bundle(session, arguments, options, file);
      return format.write(session, file.toString());
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, String.valueOf(e.getMessage()), e);
    }
  }

  private static Exported exported(RunId run, Path file) {
    MessageDigest hash = Digest.newSha256();
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        hash.update(buffer, 0, n);
      }
      return new Exported(run, file.toString(), Digest.ofBytes(hash.digest()), Files.size(file));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file + ": " + e.getMessage(), e);
    }
  }
}
