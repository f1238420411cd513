package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.error.CliError;
import dev.writ.executor.Kernel;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;

/** The log whose checkpoints are published. */
final class OwnLog implements WitnessCaller.Proofs {
  private final Kernel kernel;

  OwnLog(Kernel kernel) {
    this.kernel = kernel;
  }

  /** Over everything that is in it. */
  Checkpoint checkpoint() {
    return kernel.checkpoint();
  }

  long size() {
    return kernel.ledger().treeSize();
  }

  @Override
  public MerkleProof between(long from, long to) {
    return kernel.ledger().consistencyProof(from, to);
  }

  /**
   * Requires that a note is a checkpoint of this log and its history.
   *
   * @param where what is named in the refusal
   * @throws WritException {@code CLI-104} where a key of this log signed another history, {@code
   *     CLI-105} for what no key of this log signed
   */
  Checkpoint require(byte[] note, String where) {
    Checkpoint found;
    try {
      found = Checkpoint.parse(note);
    } catch (WritException e) {
      throw new WritException(CliError.PLACE_UNUSABLE, where + " is no checkpoint", e);
    }
    if (kernel.system().trust().keys().values().stream().noneMatch(key -> signed(key, found))) {
      throw new WritException(
          CliError.PLACE_UNUSABLE, where + " is not signed by a key of this log");
    }
    if (found.size() > size()) {
      throw new WritException(
          CliError.PLACE_FORK,
          where + " is of size " + found.size() + ", and the log of size " + size());
    }
    if (!kernel.ledger().root(found.size()).equals(found.root())) {
      throw new WritException(
          CliError.PLACE_FORK,
          where
              + " of size "
              + found.size()
              + " has the root "
              + found.root()
              + ", and the log "
              + kernel.ledger().root(found.size()));
    }
    return found;
  }

  private boolean signed(TrustedKey key, Checkpoint found) {
    if (key.role() != KeyRole.LOG) {
      return false;
    }
    try {
      found.verify(kernel.ledger().origin(), new NoteKey(kernel.ledger().origin(), key.key()));
      return true;
    } catch (WritException e) {
      return false;
    }
  }
}
