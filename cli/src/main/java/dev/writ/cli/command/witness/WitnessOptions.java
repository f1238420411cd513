package dev.writ.cli.command.witness;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.error.CliError;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.bundle.WitnessRequirement;
import java.util.List;
import java.util.Optional;

/** {@code --witness} and {@code --quorum} of the commands that verify a bundle. */
public final class WitnessOptions {
  private WitnessOptions() {}

  /**
   * @throws WritException {@code LED-055} for what is no key of a witness, {@code CLI-001} for a
   *     quorum without witnesses, or of more than there are
   */
  public static WitnessRequirement of(Arguments arguments) {
    List<WitnessKey> keys = arguments.options("--witness").stream().map(WitnessKey::parse).toList();
    WitnessRequirement all = WitnessRequirement.all(keys);
    Optional<String> quorum = arguments.option("--quorum");
    if (quorum.isPresent() && keys.isEmpty()) {
      throw new WritException(CliError.USAGE, "--quorum is of witnesses: name them by --witness");
    }
    return arguments
        .integer("--quorum", 1, Math.max(1, all.quorum()))
        .map(n -> new WitnessRequirement(keys, n.intValue()))
        .orElse(all);
  }
}
