package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.witness.StampOptions;
import dev.writ.cli.command.witness.WitnessOptions;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.InstallationProof;
import dev.writ.verify.bundle.Verification;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** {@code writ verify}: of a file it needs no data directory. */
public final class VerifyCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "verify",
            "Verify a bundle that `export` wrote, from its bytes alone: no data directory, no"
                + " network; or that of a run of the data directory. Nothing is executed again;"
                + " `replay` does that.")
        .argument("RUN|FILE", "The bundle, or a run of the data directory, also an archived one.")
        .option(
            "--trust",
            "JWKS",
            "Keys that you obtained from elsewhere; they must include the operator's and the"
                + " log's. Without it only integrity is verified, and the exit status says so.")
        .option(
            "--checkpoint",
            "NOTE",
            "A checkpoint of the log that you kept, or that witnesses cosigned.")
        .options(
            "--witness",
            "VKEY",
            "The key of a witness that must have cosigned that checkpoint, or without one the"
                + " bundle's.")
        .option("--quorum", "N", "So many of the witnesses are enough (default: all).")
        .options(
            "--stamp",
            "TSR",
            "A time stamp of that checkpoint, as `stamp ask` keeps it; it must hold.")
        .option("--tsa-ca", "FILE", "The authorities that certify those who stamp, in PEM.")
        .option(
            "--installation",
            "PROOF",
            "A proof by `cells prove` that the installation's root covers the log.")
        .flag("--closed", "Refuse the bundle of an open run.")
        .example("verify main.writ --trust writ-data/trust.jwks");
  }

  /** A verification as the command's report. */
  record Seen(Verification verification) implements Report {
    @Override
    public JsonValue toJson() {
      return verification.toJson();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<Trust> trust = NamedTrust.of(session, arguments);
    Optional<Checkpoint> earlier =
        NamedFile.of(session, arguments, "--checkpoint", Checkpoint::parse);
    Optional<InstallationProof> installation =
        NamedFile.of(session, arguments, "--installation", InstallationProof::parse);
    Verification verification;
    try (NamedBundles bundles = new NamedBundles(session);
        Progress progress = new Progress(session.terminal())) {
      verification =
          Verification.of(
              readable(bundles.file(arguments.argument("RUN|FILE"))),
              new BundleVerifier.Options(
                  trust,
                  earlier,
                  arguments.has("--closed"),
                  WitnessOptions.of(arguments),
                  StampOptions.of(session, arguments),
                  installation),
              new Watched(progress));
    }
    session.show(new Seen(verification), VerifyCommand::print);
    if (!verification.holds()) {
      return ExitCode.BROKEN_INPUT;
    }
    return verification.pinned() ? ExitCode.OK : ExitCode.INTEGRITY_ONLY;
  }

  /** Shows the progress only; what was verified is printed at the end. */
  private record Watched(Progress progress) implements BundleVerifier.Listener {
    @Override
    public void accept(String line) {}

    @Override
    public void progress(String what, long done, long total) {
      progress.step(what, done, total);
    }
  }

  private static Path readable(String name) {
    Path file = Path.of(name);
    try {
      if (!Files.isRegularFile(file)) {
        throw new WritException(EmbedError.FILE_UNREADABLE, name + " is no file");
      }
      Homes.expectSignatures(Files.size(file) / 1024); // about one for each KiB
      return file;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, name + ": " + e.getMessage(), e);
    }
  }

  private static void print(Seen shown, Terminal terminal) {
    Verification seen = shown.verification();
    VerificationLines.print(seen.verified(), seen.notVerified(), seen.failure(), terminal);
    if (seen.holds()) {
      terminal
          .out()
          .println(
              (seen.pinned()
                      ? terminal.paint(Style.GOOD, "verified")
                      : "integrity only; signer not pinned")
                  + ": the run is "
                  + seen.state());
    }
  }
}
