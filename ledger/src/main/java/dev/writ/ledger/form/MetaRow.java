package dev.writ.ledger.form;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Names;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** A row of the default family that a ledger has one of at most (spec/storage.md). */
public enum MetaRow {
  ORIGIN,

  /** A number from 1; a restored backup has the next one. */
  INCARNATION,

  /** Milliseconds since 1970: the latest time that the log has seen. */
  HIGH_WATER,

  /** Positions of the events at which time restarted, 8 bytes each; absent where it never did. */
  TIME_RESTARTS,

  /** Present while bytes of deleted contents may still lie in the database's files. */
  PURGE,

  /** The position from which on rows of the log have one node; absent where no row has. */
  ONE_NODE_FROM,

  /** Says for all gateways where large contents are; absent where they are in a home. */
  CONTENTS;

  private static final byte[] NONE = {};

  private final String text = name().toLowerCase(Locale.ROOT);

  /** The key of the row. */
  public byte[] key() {
    return Names.utf8("row", text);
  }

  /**
   * The row, of those that every ledger has.
   *
   * @throws WritException {@code LED-006} where it is missing
   */
  public byte[] read(Storage store) {
    return store.get(Family.DEFAULT, key()).orElseThrow(this::missing);
  }

  /** What is thrown where a ledger lacks the row. */
  public WritException missing() {
    return new WritException(LedgerError.CORRUPT, "the row " + text + " is missing");
  }

  /**
   * Positions of the events at which time restarted.
   *
   * @throws WritException {@code LED-006} for a row that is not made of them
   */
  public static LongStream timeRestarts(Storage store) {
    byte[] row = store.get(Family.DEFAULT, TIME_RESTARTS.key()).orElse(NONE);
    if (row.length % Long.BYTES != 0) {
      throw new WritException(LedgerError.CORRUPT, "the row time_restarts has odd bytes");
    }
    return IntStream.range(0, row.length / Long.BYTES)
        .mapToLong(i -> Keys.number(Arrays.copyOfRange(row, i * Long.BYTES, (i + 1) * Long.BYTES)));
  }
}
