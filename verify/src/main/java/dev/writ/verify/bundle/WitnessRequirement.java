package dev.writ.verify.bundle;

import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.ledger.note.WitnessKey;
import java.util.List;
import java.util.stream.Stream;

/**
 * Who must have seen the log of a bundle (spec/witness.md, "Verifying").
 *
 * @param keys of witnesses that the auditor trusts not to conspire with the operator
 * @param quorum so many of them at least; one key under two names is one
 */
public record WitnessRequirement(List<WitnessKey> keys, int quorum) {
  /** Nobody is asked for. */
  public static final WitnessRequirement NONE = new WitnessRequirement(List.of(), 0);

  public WitnessRequirement {
    keys = List.copyOf(keys);
  }

  /** Each of them. */
  public static WitnessRequirement all(List<WitnessKey> keys) {
    return new WitnessRequirement(keys, distinct(keys.stream()));
  }

  static int distinct(Stream<WitnessKey> witnesses) {
    List<VerifyingKey> keys = witnesses.map(WitnessKey::key).distinct().toList();
    return keys.size();
  }
}
