package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.util.Optional;

/**
 * The state that a kernel reads and acts on: documents, rows, blobs, and heads of runs. A replay
 * provides it without a ledger.
 */
public interface LedgerState extends DocumentSource {

  /** Takes a row of an index table; false ends the scan. */
  @FunctionalInterface
  interface RowVisitor {
    boolean row(String key, byte[] value);
  }

  @Override
  Optional<Envelope> document(Digest id);

  /** The last event of a run. */
  Optional<Event> head(RunId run);

  Optional<Event> event(RunId run, long seq);

  /** A row of an index table. */
  Optional<byte[]> get(String table, String key);

  /** The rows of an index table whose keys begin so, in the order of their UTF-8 bytes. */
  void scan(String table, String keyPrefix, RowVisitor visitor);

  /**
   * A blob's content, hashed again.
   *
   * @throws WritException {@code LED-030} missing, {@code LED-031} corrupt, {@code LED-032} larger
   *     than {@code bytesMax}
   */
  byte[] blob(Digest digest, long bytesMax);
}
