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
  private final Map<Family, TreeMap<byte[], byte[]>> newRows = new EnumMap<>(Family.class);
  private long bytes;

  @Override
  public void put(Family family, byte[] key, byte[] value) {
    take(rows, family, key, value);
    bytes += key.length + value.length;
  }

  @Override
  public void putNew(Family family, byte[] key, byte[] value) {
    take(newRows, family, key, value);
    bytes += key.length + value.length;
  }

  @Override
  public void delete(Family family, byte[] key) {
    take(rows, family, key, null);
    bytes += key.length;
  }

  private static void take(
      Map<Family, TreeMap<byte[], byte[]>> rows, Family family, byte[] key, byte[] value) {
    if (key.length > KEY_BYTES_MAX) {
      throw new WritException(PostgresError.KEY_TOO_LONG, key.length + " bytes");
    }
    rows.computeIfAbsent(family, _ -> new TreeMap<>(Arrays::compareUnsigned)).put(key, value);
  }

  /** By family and key; null where the row is removed. */
  Map<Family, TreeMap<byte[], byte[]>> rows() {
    return rows;
  }

  /** Those that are put only where there is none with their key. */
  Map<Family, TreeMap<byte[], byte[]>> newRows() {
    return newRows;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public void close() {}
}
