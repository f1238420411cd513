package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.verify.error.BundleError;

/**
 * Receipts of COSE by the key of the home's log, over nothing but roots that this log has at that
 * size, and that this key has signed as a checkpoint before.
 */
public final class HomeReceipts {
  private final Session session;
  private final Home home;

  /**
   * @param home whose log has the run
   */
  public HomeReceipts(Session session, Home home) {
    this.session = session;
    this.home = home;
  }

  /**
   * Signs the root of a checkpoint of the home's log.
   *
   * @throws WritException {@code EXE-912} where the log's key is not in force, {@code CLI-108}
   *     where another key signed the checkpoint, {@code RPL-042} where the log has another root
   */
  public SignedRoot root(Checkpoint checkpoint) {
    SigningKey key = home.key(KeyRole.LOG.text());
    Homes.inForce(session).requireLogKey(key.kid(), Homes.clock().instant());
    try (LedgerView ledger = OpenHome.read(home)) {
      requireRoot(ledger, checkpoint);
      return SignedRoot.sign(checkpoint, ledger.origin(), key);
    } catch (WritException e) {
      if (e.code() == LedgerError.NOTE_UNSIGNED) {
        throw new WritException(
            CliError.OTHER_LOG_KEY,
            "the checkpoint of size " + checkpoint.size() + " is not signed by " + key.kid(),
            e);
      }
      throw e;
    }
  }

  /**
   * A receipt that the log of a signed root continues that of a checkpoint that somebody kept.
   *
   * @throws WritException {@code CLI-111} where that is not the smaller one, {@code LED-054} where
   *     it is of another log, {@code RPL-042} where this log had another root at its size
   */
  public byte[] consistency(SignedRoot root, Checkpoint kept) {
    long size = root.checkpoint().size();
    if (kept.size() == 0 || kept.size() >= size) {
      throw new WritException(
          CliError.NOTHING_BETWEEN,
          "the kept checkpoint has size " + kept.size() + ", that of the export " + size);
    }
    try (LedgerView ledger = OpenHome.read(home)) {
      if (!kept.origin().equals(ledger.origin())) {
        throw new WritException(
            LedgerError.CHECKPOINT_ORIGIN, kept.origin() + " instead of " + ledger.origin());
      }
      requireRoot(ledger, kept);
      return root.consistency(kept.size(), ledger.consistencyProof(kept.size(), size));
    }
  }

  private static void requireRoot(LedgerView ledger, Checkpoint checkpoint) {
    Digest root = ledger.root(checkpoint.size());
    if (!root.equals(checkpoint.root())) {
      throw new WritException(
          BundleError.FORK,
          "at size "
              + checkpoint.size()
              + " the ledger's root is "
              + root
              + ", the checkpoint's "
              + checkpoint.root());
    }
  }
}
