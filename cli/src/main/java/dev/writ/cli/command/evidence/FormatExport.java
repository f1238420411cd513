package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.command.run.HomeReceipts;
import dev.writ.cli.error.CliError;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.replay.export.CoseReceipts;
import dev.writ.replay.export.ExportedOutcome;
import dev.writ.replay.export.FileFormat;
import dev.writ.replay.export.LineFormat;
import dev.writ.replay.export.ParquetTable;
import dev.writ.tools.error.FileTrouble;
import dev.writ.verify.bundle.Bundle;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** {@code writ export --format}: a verified bundle in the formats of others (spec/export.md). */
final class FormatExport {
  private final String format;
  private final Optional<Path> to;
  private final Optional<SigningKey> key;
  private final Optional<Trust> trust;
  private final Optional<HomeReceipts> receipts;
  private final Optional<Checkpoint> kept;

  /** What was written to a file or folder. */
  record Exported(String format, String file, long outcomes) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("file", file)
          .put("format", format)
          .put("outcomes", outcomes)
          .build();
    }
  }

  private FormatExport(
      String format,
      Optional<Path> to,
      Optional<SigningKey> key,
      Optional<Trust> trust,
      Optional<HomeReceipts> receipts,
      Optional<Checkpoint> kept) {
    this.format = format;
    this.to = to;
    this.key = key;
    this.trust = trust;
    this.receipts = receipts;
    this.kept = kept;
  }

  static List<String> names() {
    List<String> names = new ArrayList<>(LineFormat.NAMES);
    names.addAll(FileFormat.NAMES);
    names.add(ParquetTable.NAME);
    Collections.sort(names);
    return names;
  }

  /**
   * @throws WritException {@code CLI-001} for an unknown format, where it lacks a key or a place,
   *     and for an option that is not of this format; the codes of key files
   */
  static FormatExport of(Session session, Arguments arguments, String named) {
    String format = Arguments.oneOf("--format", named, names());
    Optional<Path> to = arguments.option("-o").map(Path::of);
    requirePlace(format, to);
    Optional<String> key = arguments.option("--key");
    if (key.isPresent() != (LineFormat.isSigned(format) || FileFormat.isSigned(format))) {
      throw new WritException(
          CliError.USAGE,
          key.isPresent()
              ? "--format " + format + " takes no --key"
              : "--format " + format + " is signed by you: --key FILE");
    }
    boolean isReceipt = format.equals(FileFormat.COSE_RECEIPT);
    if (arguments.has("--receipts") && !format.equals(FileFormat.SCITT)) {
      throw new WritException(CliError.USAGE, "--receipts belongs to --format scitt");
    }
    if (arguments.has("--checkpoint") && !isReceipt) {
      throw new WritException(
          CliError.USAGE, "--checkpoint and --format " + format + " exclude one another");
    }
    boolean signsReceipts = isReceipt || arguments.has("--receipts");
    return new FormatExport(
        format,
        to,
        key.map(
            file -> KeyFiles.read(Path.of(file), () -> session.passphrases().of(Path.of(file)))),
        NamedTrust.of(session, arguments),
        signsReceipts
            ? Optional.of(
                new HomeReceipts(
                    session, Homes.homeOf(session, ExportCommand.named(session, arguments))))
            : Optional.empty(),
        NamedFile.of(session, arguments, "--checkpoint", Checkpoint::parse));
  }

  private static void requirePlace(String format, Optional<Path> to) {
    if (to.isEmpty() && FileFormat.NAMES.contains(format)) {
      throw new WritException(CliError.USAGE, "--format " + format + " needs -o FOLDER");
    }
    if (to.isEmpty() && format.equals(ParquetTable.NAME)) {
      throw new WritException(CliError.USAGE, "--format " + format + " needs -o FILE");
    }
  }

  /** Whether the log's own key signs, so that a run of the home must be named. */
  boolean isOfHome() {
    return receipts.isPresent();
  }

  /** Verifies the bundle and writes what it says; nothing is left of what could not be finished. */
  Optional<Exported> write(Session session, String file) {
    try (BundleFile bundle = BundleFile.verified(file, trust)) {
      if (to.isEmpty()) {
        lines(bundle.recording(), session.terminal().out());
        return Optional.empty();
      }
      Path place = to.get();
      long outcomes =
          FileFormat.NAMES.contains(format)
              ? folder(bundle.recording(), place)
              : file(bundle.recording(), place);
      return Optional.of(new Exported(format, place.toString(), outcomes));
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, String.valueOf(to.orElseThrow()), e);
    } catch (UncheckedIOException e) {
      throw unwritten(e.getCause());
    } catch (IOException e) {
      throw unwritten(e);
    }
  }

  private WritException unwritten(IOException e) {
    return to.map(
            place -> new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(place, e), e))
        .orElseGet(
            () -> new WritException(CliError.OUTPUT_CLOSED, String.valueOf(e.getMessage()), e));
  }

  private long lines(Bundle bundle, OutputStream out) {
    LineFormat lines = LineFormat.of(format, bundle.manifest().origin(), key);
    lines.head().ifPresent(head -> line(out, head));
    long[] outcomes = {0};
    ExportedOutcome.each(
        bundle,
        outcome -> {
          line(out, lines.line(outcome));
          outcomes[0]++;
        });
    return outcomes[0];
  }

  private static void line(OutputStream out, String line) {
    try {
      out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long file(Bundle bundle, Path file) {
    long[] outcomes = {0};
    OutputFile.write(
        file,
        out ->
            outcomes[0] =
                format.equals(ParquetTable.NAME)
                    ? ParquetTable.write(bundle, out)
                    : lines(bundle, out));
    return outcomes[0];
  }

  /** A file for each outcome; the folder has its name when all are in it. */
  private long folder(Bundle bundle, Path folder) throws IOException {
    if (Files.exists(folder)) {
      throw new FileAlreadyExistsException(folder.toString());
    }
    try (TemporaryDirectory part =
        TemporaryDirectory.in(folder.toAbsolutePath().getParent(), ".writ-export")) {
      FileFormat files =
          FileFormat.of(format, key, receipts.map(home -> new CoseReceipts(home::root)));
      String suffix = FileFormat.suffix(format);
      long[] written = {0};
      files.each(
          bundle,
          (event, bytes) -> {
            try {
              Files.write(part.path().resolve(event.body().hex() + "." + suffix), bytes);
              written[0]++;
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      if (kept.isPresent()) {
        HomeReceipts home = receipts.orElseThrow();
        Files.write(
            part.path().resolve("consistency." + suffix),
            home.consistency(home.root(bundle.checkpoint()), kept.get()));
      }
      Files.move(part.path(), folder, StandardCopyOption.ATOMIC_MOVE);
      return written[0];
    }
  }
}
