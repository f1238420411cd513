package dev.writ.ledger;

import dev.writ.canonicalize.crypto.SigningKey;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * Where a ledger is and who signs for it.
 *
 * @param dir the data directory, which belongs to the ledger alone
 * @param anchor a file outside {@code dir}, better on another disk, that tells a restored backup
 *     (PROTOCOL 27)
 * @param origin name of the log in its checkpoints: not empty, no spaces, no plus sign
 * @param logKey signs checkpoints
 * @param clock read for the anchor's time alone; no signed byte comes from it
 */
public record LedgerConfig(
    Path dir, Path anchor, String origin, SigningKey logKey, InstantSource clock) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code LED-055} for an origin that cannot be a
   *     note's key name
   * @throws IllegalArgumentException for an anchor inside the directory: it would be restored along
   */
  public LedgerConfig {
    dir = dir.toAbsolutePath().normalize();
    anchor = anchor.toAbsolutePath().normalize();
    NoteKey.requireName(origin);
    if (anchor.startsWith(dir)) {
      throw new IllegalArgumentException("the anchor must be outside of " + dir);
    }
  }
}
