package dev.writ.ledger;

/**
 * The storage that a tenant uses.
 *
 * @param bytes a blob counts for 4 KiB at least
 * @param blobs how many
 */
public record StorageUse(long bytes, long blobs) {
  public static final StorageUse NONE = new StorageUse(0, 0);

  StorageUse plus(StorageUse other) {
    return new StorageUse(bytes + other.bytes, blobs + other.blobs);
  }
}
