package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
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

  /** The event in a row; empty where there is none. */
  public static Optional<Event> event(byte[] key, byte[] row) {
    try {
      return Optional.of(StoredForm.parseEvent(key, row));
    } catch (WritException e) {
      return Optional.empty();
    }
  }
}
