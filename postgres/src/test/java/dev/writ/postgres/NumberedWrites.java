package dev.writ.postgres;

import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.ByteBuffer;

/** Writes that say which they are, so that a lost or doubled one shows. */
final class NumberedWrites {
  private NumberedWrites() {}

  static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** One event at this position of the log, with a row that says so. */
  static void append(Storage storage, long position) {
    try (Write write = storage.newWrite()) {
      write.put(Family.LOG, number(position), number(position));
      write.put(Family.TABLES, number(position), new byte[100]);
      storage.write(write, position, position + 1);
    }
  }
}
