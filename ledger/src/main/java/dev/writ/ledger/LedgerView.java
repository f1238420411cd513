package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The readers' view of a ledger: committed state only. Safe for use by many threads. Consumers are
 * called while the ledger is held open; they must not close it. Every method throws {@code LED-023}
 * after {@link #close}, {@code LED-006} for damaged data and {@code LED-008} where the storage
 * fails.
 */
public interface LedgerView extends LedgerState, AutoCloseable {

  /** Takes an event with its position in the log. */
  @FunctionalInterface
  interface EventVisitor {
    void event(long index, Event event);
  }

  boolean hasDocument(Digest id);

  /**
   * Says which rows the caller will look at next: a ledger whose database is far away gets them in
   * one round trip.
   *
   * @param rows is asked for them only there
   */
  void expect(Supplier<ExpectedRows> rows);

  /** Streams the events of a run from {@code fromSeq} on, in order. */
  void events(RunId run, long fromSeq, Consumer<Event> consumer);

  /**
   * Streams events in commit order, which is the order of the log's leaves.
   *
   * @param toIndex exclusive
   * @throws WritException {@code LED-040} unless 0 ≤ from ≤ to ≤ {@link #treeSize}
   */
  void eventsByIndex(long fromIndex, long toIndex, EventVisitor visitor);

  /** Where in the log an event is. */
  OptionalLong indexOf(RunId run, long seq);

  /** All runs, in the order of their UTF-8 bytes. */
  void runs(Consumer<RunId> consumer);

  /**
   * The rows of an index table whose keys begin so, from a key on.
   *
   * @param fromKey with that prefix; rows before it are not read
   */
  void scan(String table, String keyPrefix, String fromKey, RowVisitor visitor);

  boolean hasBlob(Digest digest);

  /**
   * Size in bytes.
   *
   * @throws WritException {@code LED-030} where there is none
   */
  long blobSize(Digest digest);

  /**
   * Streams a blob's content. It is hashed along the way, and the read that would answer "end"
   * throws {@code LED-031} where the digest differs: the bytes read before that are unverified.
   *
   * @throws WritException {@code LED-030} missing
   */
  InputStream openBlob(Digest digest);

  /**
   * Requires that a content can be read, before anything of it is handed out.
   *
   * @throws WritException {@code LED-096} where it is sealed and no key of it is here
   */
  void requireKey(Digest digest);

  /** Number of events in the log. */
  long treeSize();

  /** Root of the log at {@link #treeSize}. */
  Digest root();

  /**
   * Root of the log when it had {@code size} leaves.
   *
   * @throws WritException {@code LED-040} outside of the log
   */
  Digest root(long size);

  /**
   * Proof that an event is in the log of that size.
   *
   * @throws WritException {@code LED-040} unless 0 ≤ index &lt; size ≤ {@link #treeSize}
   */
  MerkleProof inclusionProof(long index, long size);

  /**
   * Proof that the log of size2 continues that of size1.
   *
   * @throws WritException {@code LED-040} unless 0 ≤ size1 ≤ size2 ≤ {@link #treeSize}
   */
  MerkleProof consistencyProof(long size1, long size2);

  /** The stored checkpoint of the greatest size. */
  Optional<Checkpoint> latestCheckpoint();

  /** The stored checkpoint of exactly this size. */
  Optional<Checkpoint> checkpoint(long size);

  /** The stored checkpoint of the least size that is {@code size} or more. */
  Optional<Checkpoint> checkpointCovering(long size);

  /** All stored checkpoints by size. */
  void checkpoints(Consumer<Checkpoint> consumer);

  /**
   * The incarnation: how often a backup was deliberately restored, counted from 1 (protocol rule
   * 27).
   */
  long incarnation();

  /** Name of the log. */
  String origin();

  /**
   * The greatest {@code at} that was committed since time was last restarted, if it ever was; the
   * epoch if there is none (protocol rule 22).
   */
  Instant highWater();

  /** Positions of the events at which an operator restarted time, in order. */
  List<Long> timeRestarts();

  /** Whether a tenant put that content at that time or later, and it was not collected since. */
  boolean isUploadedSince(Digest content, Instant time);

  /** Whether that tenant put that content at any time, and it was not collected since. */
  boolean isUploaded(Digest content, String tenant);

  /**
   * Whether bytes of deleted contents may still lie in the database's files, because {@link
   * Ledger#purge} has not run to its end since.
   */
  boolean isPurgePending();

  /** Brings a reader of another process's ledger up to date; does nothing for a writer. */
  void refresh();

  @Override
  void close();
}
