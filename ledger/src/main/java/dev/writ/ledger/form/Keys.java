package dev.writ.ledger.form;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Names;
import dev.writ.ledger.event.RunId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The keys of the rows (spec/storage.md). Integers are big-endian, so that bytes sort as they do.
 */
public final class Keys {
  /** Between the parts of a key in an index table; no name contains it. */
  public static final char SEPARATOR = '\u001f';

  private Keys() {}

  /** tenant 0x00 run 0x00: no name holds a zero byte, so no run's key begins another's. */
  public static byte[] run(RunId run) {
    byte[] tenant = Names.utf8("tenant", run.tenant());
    byte[] name = Names.utf8("run", run.run());
    byte[] key = new byte[tenant.length + name.length + 2];
    System.arraycopy(tenant, 0, key, 0, tenant.length);
    System.arraycopy(name, 0, key, tenant.length + 1, name.length);
    return key;
  }

  /**
   * The run of a stored key.
   *
   * @throws WritException {@code LED-006} for a key that no run has
   */
  public static RunId run(byte[] key) {
    int zero = 0;
    while (zero < key.length && key[zero] != 0) {
      zero++;
    }
    if (zero + 2 > key.length) {
      throw new WritException(LedgerError.CORRUPT, "a run's key of " + key.length + " bytes");
    }
    return new RunId(
        new String(key, 0, zero, StandardCharsets.UTF_8),
        new String(key, zero + 1, key.length - zero - 2, StandardCharsets.UTF_8));
  }

  public static byte[] event(byte[] runKey, long seq) {
    return ByteBuffer.allocate(runKey.length + 8).put(runKey).putLong(seq).array();
  }

  public static byte[] number(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  /** The number that a stored row is, or begins with. */
  public static long number(byte[] bytes) {
    if (bytes.length < 8) {
      throw new WritException(LedgerError.CORRUPT, "a number of " + bytes.length + " bytes");
    }
    return ByteBuffer.wrap(bytes).getLong();
  }

  /** table 0x00 key; the key's own bytes may be anything, for they end the row's key. */
  public static byte[] table(String table, String key) {
    byte[] head = Names.utf8("table", Names.check("table", table));
    byte[] tail = Names.utf8("table key", key);
    byte[] row = Arrays.copyOf(head, head.length + 1 + tail.length);
    System.arraycopy(tail, 0, row, head.length + 1, tail.length);
    return row;
  }
}
