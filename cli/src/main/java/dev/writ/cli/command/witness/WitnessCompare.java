package dev.writ.cli.command.witness;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Text;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.error.BundleError;
import java.util.ArrayList;
import java.util.List;

/** {@code writ witness compare}: holds the checkpoints of two people against each other. */
final class WitnessCompare implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "compare",
            "Compare two checkpoints of a log, as two auditors hold them. Two roots of one size"
                + " prove that the log's history was forked.",
            "Needs no data directory and no network.")
        .argument("A", "A checkpoint.")
        .argument("B", "Another one.")
        .requiredOption("--log", "VKEY", "The log's key, which must have signed both.")
        .options("--key", "VKEY", "The key of a witness, to say what it cosigned.")
        .example("witness compare mine.txt yours.txt --log VKEY --key VKEY");
  }

  /** Two checkpoints of one size and root. */
  record Compared(Checkpoint checkpoint, List<String> seen) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("origin", checkpoint.origin())
          .put("size", checkpoint.size())
          .put("root", checkpoint.root().toString())
          .putList("seen", seen, JsonValue::of)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    NoteKey log = NoteKey.parse(arguments.option("--log").orElseThrow());
    List<WitnessKey> keys = arguments.options("--key").stream().map(WitnessKey::parse).toList();
    List<String> seen = new ArrayList<>();
    Checkpoint a = signed(session, arguments.argument("A"), log, keys, seen);
    Checkpoint b = signed(session, arguments.argument("B"), log, keys, seen);
    if (a.size() != b.size()) {
      throw new WritException(
          BundleError.NO_PROOF_BETWEEN, "sizes " + a.size() + " and " + b.size() + seen(seen));
    }
    if (!a.root().equals(b.root())) {
      throw new WritException(
          BundleError.FORK,
          "size " + a.size() + " root " + a.root() + " and root " + b.root() + seen(seen));
    }
    session.show(
        new Compared(a, seen),
        (compared, terminal) -> {
          terminal
              .out()
              .println(
                  Text.printable(
                      "one history: "
                          + a.origin()
                          + " of size "
                          + a.size()
                          + ", root "
                          + a.root()));
          compared.seen().forEach(line -> terminal.out().println(Text.printable(line)));
        });
    return ExitCode.OK;
  }

  private static String seen(List<String> seen) {
    return seen.isEmpty() ? "" : "; " + String.join("; ", seen);
  }

  private static Checkpoint signed(
      Session session, String file, NoteKey log, List<WitnessKey> keys, List<String> seen) {
    Checkpoint checkpoint = Checkpoint.verify(session.read(file), log.name(), log.key());
    for (WitnessKey key : keys) {
      Cosignature.of(checkpoint, key)
          .ifPresent(c -> seen.add(file + " was seen by " + key.name() + " at " + c.at()));
    }
    return checkpoint;
  }
}
