package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Write;
import dev.writ.postgres.error.PostgresError;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/** Gathers rows; of each key what was given last. */
final class PostgresWrite implements Write {
  /** An entry of an index has at most 2,704 bytes, headers included. */
  private static final int KEY_BYTES_MAX = 2600;

  private final Map<Family, TreeMap<byte[], byte[]>> rows = new EnumMap<>(Family.class);
  private long bytes;

  @Override
  public void put(Family family, byte[] key, byte[] value) {
    take(family, key, value);
    bytes += key.length + value.length;
  }

  @Override
  public void delete(Family family, byte[] key) {
    take(family, key, null);
    bytes += key.length;
  }

  private void take(Family family, byte[] key, byte[] value) {
    if (key.length > KEY_BYTES_MAX) {
      throw new WritException(PostgresError.KEY_TOO_LONG, key.length + " bytes");
    }
    rows.computeIfAbsent(family, _ -> new TreeMap<>(Arrays::compareUnsigned)).put(key, value);
  }

  /** By family and key; null where the row is removed. */
  Map<Family, TreeMap<byte[], byte[]>> rows() {
    return rows;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public void close() {}
}
