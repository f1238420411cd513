package dev.writ.ledger.rocks;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Checks a manifest before RocksDB opens it. RocksDB 11.8.1 loops for ever on some damaged
 * manifests (log::Reader::ReadPhysicalRecord) and cannot be stopped then, so a manifest with a
 * wrong checksum is refused before.
 *
 * <p>The form is RocksDB's log format: blocks of 32 KiB, in them records of a masked CRC-32C, a
 * length (16 bits), a type (8 bits) and the content, all little-endian; the rest of a block that
 * cannot hold a header is zero. A crash leaves a record that is cut off by the end of the file;
 * RocksDB drops it.
 */
public final class ManifestCheck {
  private static final int BLOCK = 32 * 1024;
  private static final int HEADER = 7;
  private static final int MASK = 0xa282ead8;

  /** Full, first, middle, last. Manifests are never recycled, so no other type is in them. */
  private static final int TYPE_MAX = 4;

  private ManifestCheck() {}

  /**
   * @throws WritException {@code LED-006} for a record with a wrong checksum
   */
  static void verify(byte[] manifest) {
    int at = 0;
    while (at < manifest.length) {
      int blockLeft = BLOCK - at % BLOCK;
      if (blockLeft < HEADER) {
        at += blockLeft;
        continue;
      }
      if (manifest.length - at < HEADER) {
        return;
      }
      ByteBuffer header = ByteBuffer.wrap(manifest, at, HEADER).order(ByteOrder.LITTLE_ENDIAN);
      int masked = header.getInt();
      int length = header.getShort() & 0xFFFF;
      int type = header.get() & 0xFF;
      if (type < 1 || type > TYPE_MAX || HEADER + length > blockLeft) {
        throw damaged(at);
      }
      if (HEADER + length > manifest.length - at) {
        return;
      }
      CRC32C crc = new CRC32C();
      crc.update(manifest, at + HEADER - 1, 1 + length);
      int value = (int) crc.getValue();
      if (masked != (value >>> 15 | value << 17) + MASK) {
        throw damaged(at);
      }
      at += HEADER + length;
    }
  }

  private static WritException damaged(int at) {
    return new WritException(
        LedgerError.CORRUPT, "the manifest's record at byte " + at + " does not fit its checksum");
  }
}
