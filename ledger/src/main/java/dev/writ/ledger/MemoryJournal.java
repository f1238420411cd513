package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.RowFile;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.Storage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A journal in memory: it keeps rows and the heads of runs. Documents and blobs are read from the
 * recording. Not thread safe.
 *
 * <p>So that memory does not grow with the length of the recording, the caller names tables that
 * are never read, whose rows are dropped, and tables that are never scanned, whose rows go into a
 * temporary file once there are many.
 */
public abstract class MemoryJournal implements RunJournal, AutoCloseable {
  private static final int FILE_BUFFER_BYTES = 256 << 10;

  private static final Commit DONE =
      new Commit() {
        @Override
        public void await() {}

        @Override
        public boolean isDone() {
          return true;
        }
      };

  private final DocumentSource documents;
  private final TreeSet<String> unread;
  private final TreeSet<String> unscanned;
  private final TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
  private final RowFile unscannedRows = new RowFile(FILE_BUFFER_BYTES);
  private final TreeMap<RunId, Event> heads = new TreeMap<>();

  /**
   * @param unread tables whose rows are dropped
   * @param unscanned tables whose rows are only looked up by their whole keys
   */
  protected MemoryJournal(
      DocumentSource documents, TreeSet<String> unread, TreeSet<String> unscanned) {
    this.documents = documents;
    this.unread = unread;
    this.unscanned = unscanned;
  }

  @Override
  public Batch newBatch() {
    return Batch.inMemory();
  }

  /** Applies the rows and heads of a batch; its documents and blobs are in the recording. */
  @Override
  public Commit append(Batch batch) {
    batch.use();
    for (Batch.Row row : batch.rows()) {
      if (row.family() == Family.TABLES) {
        keep(row.key(), Optional.ofNullable(row.value() == null ? null : batch.valueOf(row)));
      }
    }
    batch.entries().forEach(entry -> heads.put(entry.runId(), entry.event()));
    return DONE;
  }

  private void keep(byte[] key, Optional<byte[]> value) {
    String table = table(key);
    if (unscanned.contains(table)) {
      value.ifPresentOrElse(v -> unscannedRows.put(key, v), () -> unscannedRows.remove(key));
    } else if (!unread.contains(table)) {
      value.ifPresentOrElse(v -> rows.put(key, v), () -> rows.remove(key));
    }
  }

  private static String table(byte[] key) {
    int end = 0;
    while (key[end] != 0) {
      end++;
    }
    return new String(key, 0, end, StandardCharsets.UTF_8);
  }

  /** A reference to content for batches; the bytes are not kept. */
  public static BlobRef blobOf(byte[] content) {
    return new BlobRef(Digest.sha256(content), content.length, LargeContents.NO_PLACE);
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return documents.document(id);
  }

  @Override
  public Optional<Event> head(RunId run) {
    return Optional.ofNullable(heads.get(run));
  }

  @Override
  public Optional<byte[]> get(String table, String key) {
    byte[] rowKey = Keys.table(table, key);
    return unscanned.contains(table)
        ? unscannedRows.get(rowKey)
        : Optional.ofNullable(rows.get(rowKey));
  }

  @Override
  public void scan(String table, String keyPrefix, RowVisitor visitor) {
    if (unscanned.contains(table)) {
      throw new IllegalArgumentException("the rows of " + table + " are not kept in order");
    }
    byte[] prefix = Keys.table(table, keyPrefix);
    int keyAt = Keys.table(table, "").length;
    for (Map.Entry<byte[], byte[]> row : rows.tailMap(prefix, true).entrySet()) {
      byte[] key = row.getKey();
      if (!Storage.startsWith(key, prefix)
          || !visitor.row(
              new String(key, keyAt, key.length - keyAt, StandardCharsets.UTF_8), row.getValue())) {
        return;
      }
    }
  }

  @Override
  public byte[] blob(Digest digest, long bytesMax) {
    throw new WritException(LedgerError.BLOB_MISSING, digest.toString());
  }

  @Override
  public void close() {
    unscannedRows.close();
  }
}
