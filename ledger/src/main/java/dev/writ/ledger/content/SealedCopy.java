package dev.writ.ledger.content;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.seal.ContentOwner;
import java.nio.ByteBuffer;

/**
 * A row of the table {@link #TABLE}: a content is here, sealed under a key of one owner. The sealed
 * form is a content of the ledger itself, under its own digest, so whatever stores, copies, moves
 * and compares contents needs no key.
 *
 * @param content the digest by which everybody names it
 * @param keyId of the key
 * @param stored digest of the sealed form
 * @param size of the content, in bytes
 */
public record SealedCopy(
    Digest content, ContentOwner owner, String keyId, Digest stored, long size) {
  /** content, tenant, kind, name, key id → digest of the sealed form, size. */
  public static final String TABLE = "sealed";

  private static final int PARTS = 5;
  private static final int VALUE_BYTES = Digest.LENGTH + Long.BYTES;

  /** The prefix of the keys of all copies of a content. */
  static String prefix(Digest content) {
    return content.hex() + Keys.SEPARATOR;
  }

  public String key() {
    return String.join(
        String.valueOf(Keys.SEPARATOR),
        content.hex(),
        owner.tenant(),
        owner.kind(),
        owner.name(),
        keyId);
  }

  public byte[] value() {
    return ByteBuffer.allocate(VALUE_BYTES).put(stored.bytes()).putLong(size).array();
  }

  /**
   * @throws WritException {@code LED-006} for a row that is none
   */
  public static SealedCopy parse(String key, byte[] value) {
    String[] parts = key.split(String.valueOf(Keys.SEPARATOR), -1);
    if (parts.length != PARTS || value.length != VALUE_BYTES) {
      throw new WritException(LedgerError.CORRUPT, "a row of a sealed content: " + key);
    }
    byte[] stored = new byte[Digest.LENGTH];
    ByteBuffer bytes = ByteBuffer.wrap(value).get(stored);
    return new SealedCopy(
        Digest.parse("sha256:" + parts[0]),
        new ContentOwner(parts[1], parts[2], parts[3]),
        parts[4],
        Digest.ofBytes(stored),
        bytes.getLong());
  }
}
