package dev.writ.cli.command.cells;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.CellPlacement;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.InstallationProof;
import dev.writ.verify.bundle.InstallationProofs;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/** {@code writ cells prove}: shows that the installation's root covers a log (spec/cells.md). */
final class CellsProve implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "prove",
            "Print the proof that the root of the installation, which is the system cell's"
                + " checkpoint, covers the log of a bundle, or of a cell.",
            "`verify --installation` takes it. Only reads, also while gateways run.")
        .optionalArgument("BUNDLE", "The bundle that the proof is for.")
        .option("--size", "N", "For a bundle whose log had this size.")
        .option("-o", "FILE", "Write the proof to this file.")
        .example("cells prove main.writ -o main.root");
  }

  /** A proof. */
  record Proof(InstallationProof proof) implements Report {
    @Override
    public JsonValue toJson() {
      return Jcs.parse(proof.toBytes());
    }
  }

  /** Of which log, and how large it was. */
  private record Asked(Home home, Optional<Long> size) {}

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<Long> size = arguments.integer("--size", 1, JsonValue.Num.MAX_INTEGER);
    Asked asked =
        arguments
            .optionalArgument("BUNDLE")
            .map(file -> of(session, file))
            .orElseGet(() -> new Asked(Homes.home(session), size));
    Home home = asked.home();
    Optional<InstallationProof> found;
    try (LedgerView system = OpenHome.read(home.inCell(CellPlacement.SYSTEM));
        LedgerView cell = OpenHome.read(home)) {
      found = InstallationProofs.of(system, cell, asked.size());
    }
    InstallationProof proof =
        found.orElseThrow(() ->
            new WritException(
                CliError.NOT_STATED,
                home.origin()
                    + asked.size().map(n -> " of size " + n).orElse("")
                    + (home.cells() > 1
                        ? ""
                        : "; this installation has one cell: its own checkpoint covers all of"
                            + " it")));
    Optional<String> file = arguments.option("-o");
    file.ifPresent(f -> OutputFile.write(Path.of(f), out -> out.write(proof.toBytes())));
    session.show(
        new Proof(proof),
        (shown, terminal) ->
            terminal
                .out()
                .print(
                    file.isPresent()
                        ? Text.printable(shown.proof().says(home.origin())) + "\n"
                        : new String(shown.proof().toBytes(), StandardCharsets.UTF_8)));
    return ExitCode.OK;
  }

  /** The cell whose log a bundle is of. */
  private static Asked of(Session session, String file) {
    Checkpoint checkpoint;
    try (Bundle bundle = Bundle.open(Path.of(file))) {
      checkpoint = bundle.checkpoint();
    }
    Home home = Homes.place(session);
    home.requireExisting();
    for (int cell = 0; cell < home.cells(); cell++) {
      Home of = home.inCell(cell);
      if (of.origin().equals(checkpoint.origin())) {
        return new Asked(of, Optional.of(checkpoint.size()));
      }
    }
    throw new WritException(
        CliError.NOT_STATED, "the bundle is of " + checkpoint.origin() + ", which is no log here");
  }
}
