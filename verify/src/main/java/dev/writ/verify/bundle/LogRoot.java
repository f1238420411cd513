package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.verify.error.BundleError;

/**
 * Computes the root of the log from the bundle's events and the hashes of subtrees without such
 * events (RFC 9162, 2.1.1), in linear time and with memory for the depth of the tree.
 */
final class LogRoot {
  private final JournalMerge events;
  private final Inclusion.Hashes hashes;

  private LogRoot(JournalMerge events, Inclusion.Hashes hashes) {
    this.events = events;
    this.hashes = hashes;
  }

  /**
   * @throws WritException {@code RPL-033} where an index is not below size, or the hashes are too
   *     few or too many
   */
  static Digest of(long size, JournalMerge events, Inclusion.Hashes hashes) {
    Digest root = new LogRoot(events, hashes).root(0, size);
    if (events.index() != JournalMerge.END) {
      throw new WritException(
          BundleError.EVENT_PROOF,
          events.place() + " at log index " + events.index() + ", the log has " + size);
    }
    if (hashes.next()) {
      throw new WritException(
          BundleError.EVENT_PROOF, BundleEntryNames.INCLUSION + " has hashes that lead nowhere");
    }
    return root;
  }

  private Digest root(long from, long to) {
    if (events.index() >= to) {
      if (!hashes.next()) {
        throw new WritException(
            BundleError.EVENT_PROOF,
            BundleEntryNames.INCLUSION
                + " has no hash for log indexes "
                + from
                + " to "
                + (to - 1));
      }
      return hashes.hash();
    }
    if (to - from == 1) {
      return Merkle.leafHash(events.take());
    }
    long middle = from + Long.highestOneBit(to - from - 1);
    Digest left = root(from, middle);
    return Merkle.nodeHash(left, root(middle, to));
  }
}
