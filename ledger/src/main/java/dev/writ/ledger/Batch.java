package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.storage.Family;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * A set of writes that become durable together, or not at all. Everything that can be computed
 * beforehand is computed here, in the caller's thread, so that the appender only writes. Not thread
 * safe; used once.
 */
public final class Batch {
  /** Largest content of {@link #blob(byte[])}; larger ones go through {@link Ledger#newBlob}. */
  public static final int BLOB_BYTES_MAX = 64 * 1024;

  /** One event, with everything that follows from its bytes. */
  record Entry(Event event, RunId runId, byte[] row, Digest id, byte[] runKey, Digest leaf) {}

  /** One row that is written as it is; a null value deletes. */
  record Row(Family family, byte[] key, byte[] value) {}

  /** Whether it is to be stored, and not only read again by this process. */
  private final boolean stored;

  private final List<Entry> entries = new ArrayList<>();
  private final List<Row> rows = new ArrayList<>();

  /** Places of the rows of tables in {@link #rows}. */
  private final Map<ByteBuffer, Integer> tableRows = new TreeMap<>();

  private final List<byte[]> payloads = new ArrayList<>();
  private final List<Digest> held = new ArrayList<>();
  private final List<String> keysInUse = new ArrayList<>();
  private final Map<String, Uploads.Claim> uploads = new TreeMap<>();
  private OptionalLong incarnation = OptionalLong.empty();
  private boolean restartsTime;
  private long bytes;
  private boolean used;

  public Batch() {
    this(true);
  }

  private Batch(boolean stored) {
    this.stored = stored;
  }

  /**
   * A batch that no ledger takes: it has the events and rows, in no stored form, and neither
   * documents nor content, which are in a recording.
   */
  static Batch inMemory() {
    return new Batch(false);
  }

  /** Adds an event; several of one run must follow one another. */
  public Batch event(Event event) {
    add(event);
    return this;
  }

  /** Adds an event and returns its id, which the next one names. */
  public Digest add(Event event) {
    byte[] canonical = event.toBytes();
    Optional<Entry> before = lastOf(event);
    RunId runId = before.map(Entry::runId).orElseGet(event::runId);
    Digest id = Digest.sha256(canonical);
    if (!stored) {
      entries.add(new Entry(event, runId, null, id, null, null));
      return id;
    }
    entries.add(
        new Entry(
            event,
            runId,
            StoredForm.event(event),
            id,
            before.map(Entry::runKey).orElseGet(() -> Keys.run(runId)),
            Merkle.leafHash(canonical)));
    bytes += canonical.length + 256L;
    return id;
  }

  /** The entry before, if it is of the same run, as nearly always. */
  private Optional<Entry> lastOf(Event event) {
    if (entries.isEmpty()) {
      return Optional.empty();
    }
    Entry last = entries.getLast();
    return Optional.of(last)
        .filter(entry -> entry.event().run().equals(event.run()))
        .filter(entry -> entry.event().tenant().equals(event.tenant()));
  }

  /** Adds a document under its id. One that is there already stays as it is. */
  public Batch document(Envelope envelope) {
    if (!stored) {
      return this;
    }
    payloads.add(envelope.payload());
    return row(Family.DOCUMENTS, envelope.id().bytes(), StoredForm.document(envelope));
  }

  /**
   * Adds small content under its digest.
   *
   * @throws WritException {@code LED-032} above {@link #BLOB_BYTES_MAX}
   */
  public Batch blob(byte[] content) {
    if (content.length > BLOB_BYTES_MAX) {
      throw new WritException(
          LedgerError.BLOB_TOO_LARGE,
          content.length + " bytes, at most " + BLOB_BYTES_MAX + " without newBlob()");
    }
    return stored ? row(Family.BLOBS, Digest.sha256(content).bytes(), content.clone()) : this;
  }

  /** Names a blob that {@link BlobSink#finish} has written. */
  public Batch blob(BlobRef blob) {
    blob.copy()
        .ifPresent(copy -> {
          keysInUse.add(copy.keyId());
          put(SealedCopy.TABLE, copy.key(), copy.value());
        });
    if (blob.inline().isEmpty()) {
      held.add(blob.stored());
    }
    return blob.inline().isPresent()
        ? row(Family.BLOBS, blob.stored().bytes(), blob.inline().get())
        : row(Family.FILES, blob.stored().bytes(), Blobs.row(blob.storedSize(), blob.place()));
  }

  /**
   * Names a blob as a tenant's upload, which counts against the tenant's quota and is removed by
   * collection if no document names it in time.
   *
   * @param at when it was uploaded, from which its age counts
   */
  public Batch upload(String tenant, BlobRef blob, Instant at) {
    String key = Uploads.key(blob.digest(), tenant);
    Uploads.Claim claim = new Uploads.Claim(at, blob.size(), false);
    uploads.put(key, claim);
    return blob(blob).put(Uploads.TABLE, key, claim.toBytes());
  }

  /** Sets a row of an index table. Within a batch, and over batches, the last one counts. */
  public Batch put(String table, String key, byte[] value) {
    return tableRow(Keys.table(table, key), stored ? StoredForm.value(value) : value.clone());
  }

  /** Removes a row of an index table. */
  public Batch delete(String table, String key) {
    return tableRow(Keys.table(table, key), null);
  }

  /** A row that this batch sets again takes the place of the earlier one, which nobody can see. */
  private Batch tableRow(byte[] key, byte[] value) {
    Row row = new Row(Family.TABLES, key, value);
    Integer earlier = tableRows.putIfAbsent(ByteBuffer.wrap(key), rows.size());
    if (earlier == null) {
      return row(Family.TABLES, key, value);
    }
    rows.set(earlier, row);
    return this;
  }

  private Batch row(Family family, byte[] key, byte[] value) {
    rows.add(new Row(family, key, value));
    bytes += key.length + (value == null ? 0 : value.length) + 64L;
    return this;
  }

  Batch incarnation(long next) {
    incarnation = OptionalLong.of(next);
    return this;
  }

  OptionalLong incarnation() {
    return incarnation;
  }

  /** The log's time continues from this batch's first event, even if that is earlier. */
  Batch restartingTime() {
    restartsTime = true;
    return this;
  }

  boolean restartsTime() {
    return restartsTime;
  }

  List<Entry> entries() {
    return entries;
  }

  /** Payloads of its documents. */
  List<byte[]> payloads() {
    return payloads;
  }

  /** Files that must not be collected until this batch is written. */
  List<Digest> held() {
    return held;
  }

  /** Ids of keys of sealed contents, once for each. */
  List<String> keysInUse() {
    return keysInUse;
  }

  Map<String, Uploads.Claim> uploads() {
    return uploads;
  }

  List<Row> rows() {
    return rows;
  }

  /** The approximate memory that it takes, in bytes. */
  long bytes() {
    return bytes;
  }

  /** The value that was put, of a row of a table that is not deleted. */
  byte[] valueOf(Row row) {
    return stored ? StoredForm.fromValue(row.value()) : row.value();
  }

  void use() {
    if (used) {
      throw new WritException(LedgerError.BATCH_USED, entries.size() + " events");
    }
    used = true;
  }
}
