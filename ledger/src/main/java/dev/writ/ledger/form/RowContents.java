package dev.writ.ledger.form;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.event.Event;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/**
 * Reads what rows of documents and events hold, for a database that keeps it in columns
 * (spec/storage-postgres.md).
 */
public final class RowContents {
  private RowContents() {}

  /** The envelope in a document's row; empty where {@link #row} would not give back this row. */
  public static Optional<Envelope> document(byte[] row) {
    try {
      Envelope envelope = StoredForm.document(row);
      return Arrays.equals(StoredForm.document(envelope), row)
          ? Optional.of(envelope)
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  /** A document's row. */
  public static byte[] row(Envelope envelope) {
    return StoredForm.document(envelope);
  }

  /** An event's row. */
  public static byte[] row(long position, Event event) {
    byte[] packed = StoredForm.event(event);
    return ByteBuffer.allocate(Long.BYTES + packed.length).putLong(position).put(packed).array();
  }

  /** Whether an event's row has the binary form, which views can read. */
  public static boolean isPackedEvent(byte[] row) {
    return StoredForm.isPackedEvent(row);
  }

  /** The event in a row; empty where there is none. */
  public static Optional<Event> event(byte[] key, byte[] row) {
    try {
      return Optional.of(StoredForm.parseEvent(key, row));
    } catch (WritException e) {
      return Optional.empty();
    }
  }
}
