package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import java.util.Optional;

/**
 * A blob that was written and is not yet named by a batch. Small content is held in this object;
 * large content is a synced file. Until {@link Batch#blob(BlobRef)} is committed the blob is
 * invisible, and the next opening removes its file.
 */
public final class BlobRef {
  private final Digest digest;
  private final long size;
  private final Optional<byte[]> inline;

  BlobRef(Digest digest, long size, Optional<byte[]> inline) {
    this.digest = digest;
    this.size = size;
    this.inline = inline;
  }

  public Digest digest() {
    return digest;
  }

  /** Size in bytes. */
  public long size() {
    return size;
  }

  Optional<byte[]> inline() {
    return inline;
  }

  @Override
  public String toString() {
    return digest + " (" + size + " bytes)";
  }
}
