package dev.writ.ledger;

import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.note.VerifierKeyText;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;

/**
 * The location of a ledger, and its signing key.
 *
 * @param dir the data directory, which belongs to the ledger alone
 * @param anchor a file outside {@code dir}, better on another disk, which reveals a restored backup
 *     (protocol rule 27)
 * @param origin name of the log in its checkpoints: not empty, no spaces, no plus sign
 * @param logKey signs checkpoints
 * @param clock read for the anchor's time alone; no signed byte comes from it
 * @param disk holds the blobs, the anchor and the keys of contents; RocksDB has its own files
 * @param secrets draws the keys of contents; no signed byte comes from it
 */
public record LedgerConfig(
    Path dir,
    Path anchor,
    String origin,
    SigningKey logKey,
    InstantSource clock,
    Disk disk,
    SecureRandom secrets) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code LED-055} for an origin that cannot be a
   *     note's key name
   * @throws IllegalArgumentException for an anchor inside the directory: it would be restored with
   *     the ledger
   */
  public LedgerConfig {
    dir = dir.toAbsolutePath().normalize();
    anchor = anchor.toAbsolutePath().normalize();
    VerifierKeyText.requireName(origin);
    if (anchor.startsWith(dir)) {
      throw new IllegalArgumentException("the anchor must be outside of " + dir);
    }
  }

  /** On the disk of this machine, with secrets of the JDK's. */
  @Nondeterministic("keys of contents are secret and in no document")
  public LedgerConfig(
      Path dir, Path anchor, String origin, SigningKey logKey, InstantSource clock) {
    this(dir, anchor, origin, logKey, clock, Disk.REAL, new SecureRandom());
  }

  /** The same on another disk. */
  public LedgerConfig on(Disk other) {
    return new LedgerConfig(dir, anchor, origin, logKey, clock, other, secrets);
  }

  /** The same with secrets from elsewhere. */
  public LedgerConfig drawing(SecureRandom other) {
    return new LedgerConfig(dir, anchor, origin, logKey, clock, disk, other);
  }

  DurableFiles files() {
    return new DurableFiles(disk);
  }
}
