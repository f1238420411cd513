package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.error.LedgerError;
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
 * <p>The caller names tables that are never read; their rows are dropped, so that memory does not
 * grow with the length of the recording.
 */
public abstract class MemoryJournal implements RunJournal {
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
  private final TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
  private final TreeMap<RunId, Event> heads = new TreeMap<>();

  /**
   * @param unread tables whose rows are dropped
   */
  protected MemoryJournal(DocumentSource documents, TreeSet<String> unread) {
    this.documents = documents;
    this.unread = unread;
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
      if (row.family() != Store.Family.TABLES || unread.contains(table(row.key()))) {
        continue;
      }
      if (row.value() == null) {
        rows.remove(row.key());
      } else {
        rows.put(row.key(), batch.valueOf(row));
      }
    }
    batch.entries().forEach(entry -> heads.put(entry.runId(), entry.event()));
    return DONE;
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
    return new BlobRef(Digest.sha256(content), content.length, Optional.empty());
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
    return Optional.ofNullable(rows.get(Keys.table(table, key)));
  }

  @Override
  public void scan(String table, String keyPrefix, RowVisitor visitor) {
    byte[] prefix = Keys.table(table, keyPrefix);
    int keyAt = Keys.table(table, "").length;
    for (Map.Entry<byte[], byte[]> row : rows.tailMap(prefix, true).entrySet()) {
      byte[] key = row.getKey();
      if (!Keys.startsWith(key, prefix)
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
}
