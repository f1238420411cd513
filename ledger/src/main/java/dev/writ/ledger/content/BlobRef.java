package dev.writ.ledger.content;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.Batch;
import dev.writ.ledger.storage.LargeContents;
import java.util.Optional;

/**
 * A blob that was written and is not yet named by a batch. Small content is held in this object;
 * large content is kept where the ledger keeps it. Until {@link Batch#blob(BlobRef)} is committed
 * the blob is invisible, and what nobody names is removed later.
 */
public final class BlobRef {
  private final Digest digest;
  private final long size;
  private final byte[] place;
  private final Optional<byte[]> inline;
  private final Optional<SealedCopy> copy;
  private final long storedSize;

  private BlobRef(
      Digest digest,
      long size,
      byte[] place,
      Optional<byte[]> inline,
      Optional<SealedCopy> copy,
      long storedSize) {
    this.digest = digest;
    this.size = size;
    this.place = place;
    this.inline = inline;
    this.copy = copy;
    this.storedSize = storedSize;
  }

  /** A large one. */
  public BlobRef(Digest digest, long size, byte[] place) {
    this(digest, size, place, Optional.empty(), Optional.empty(), size);
  }

  /** A small one. */
  public static BlobRef inline(Digest digest, byte[] content) {
    return new BlobRef(
        digest,
        content.length,
        LargeContents.NO_PLACE,
        Optional.of(content),
        Optional.empty(),
        content.length);
  }

  /** A small one, sealed. */
  public static BlobRef sealed(SealedCopy copy, byte[] form) {
    return new BlobRef(
        copy.content(),
        copy.size(),
        LargeContents.NO_PLACE,
        Optional.of(form),
        Optional.of(copy),
        form.length);
  }

  /** A large one, sealed. */
  public static BlobRef sealed(SealedCopy copy, long formSize, byte[] place) {
    return new BlobRef(
        copy.content(), copy.size(), place, Optional.empty(), Optional.of(copy), formSize);
  }

  public Digest digest() {
    return digest;
  }

  /** Size in bytes. */
  public long size() {
    return size;
  }

  /** What is stored: the content, or its sealed form. */
  public Digest stored() {
    return copy.map(SealedCopy::stored).orElse(digest);
  }

  public long storedSize() {
    return storedSize;
  }

  public Optional<SealedCopy> copy() {
    return copy;
  }

  public byte[] place() {
    return place;
  }

  public Optional<byte[]> inline() {
    return inline;
  }

  @Override
  public String toString() {
    return digest + " (" + size + " bytes)";
  }
}
