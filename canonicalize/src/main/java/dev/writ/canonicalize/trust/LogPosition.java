package dev.writ.canonicalize.trust;

import java.time.Instant;

/**
 * Where the log holds a document: the only time that a signature has after the fact (protocol rule
 * 25). A time inside the document is its signer's claim; a position cannot be moved past a
 * revocation.
 *
 * @param index the document's leaf in the Merkle log, from 0; revocations are leaves of the same
 *     log
 * @param at the clock reading of the event that logged it, for the key's validity window
 */
public record LogPosition(long index, Instant at) {
  public LogPosition {
    if (index < 0) {
      throw new IllegalArgumentException("index " + index);
    }
  }
}
