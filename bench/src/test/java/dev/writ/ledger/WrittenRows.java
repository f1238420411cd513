package dev.writ.ledger;

import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** Sees every row that a ledger writes, and the size of each write. */
public final class WrittenRows {
  /**
   * One row of a write.
   *
   * @param family name of the column family
   * @param value empty for a row that is removed
   */
  public record Written(String family, byte[] key, byte[] value) {}

  private final List<Written> rows = new ArrayList<>();
  private long bytes;
  private long writes;

  /** Makes a ledger and opens it under this observer. */
  public Ledger create(LedgerConfig config) {
    Ledger.create(config).close();
    return Ledger.open(
        config,
        disk ->
            (write, size, newSize) -> {
              see(((RocksStorage.RocksWrite) write).batch());
              disk.write(write, size, newSize);
            });
  }

  private void see(WriteBatch batch) {
    try (Seen seen = new Seen()) {
      batch.iterate(seen);
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
    synchronized (rows) {
      bytes += batch.getDataSize();
      writes++;
    }
  }

  /** Bytes of each family's tables once they are merged; the ledger is closed by then. */
  public static Map<String, Long> compacted(LedgerConfig config) {
    Map<String, Long> sizes = new TreeMap<>();
    try (Ledger ledger = Ledger.open(config)) {
      RocksStorage store = (RocksStorage) ledger.store;
      store.forgetDeleted();
      for (Family family : Family.values()) {
        store.compact(family);
        sizes.put(family.name(), store.tableBytes(family));
      }
    }
    return sizes;
  }

  /** Forgets what was written so far. */
  public void forget() {
    synchronized (rows) {
      rows.clear();
      bytes = 0;
      writes = 0;
    }
  }

  public List<Written> rows() {
    synchronized (rows) {
      return List.copyOf(rows);
    }
  }

  /** Bytes of all writes, as the log has them but for its own framing. */
  public long bytes() {
    synchronized (rows) {
      return bytes;
    }
  }

  public long writes() {
    synchronized (rows) {
      return writes;
    }
  }

  private final class Seen extends WriteBatch.Handler {
    private void row(int family, byte[] key, byte[] value) {
      synchronized (rows) {
        rows.add(new Written(Family.values()[family].name(), key, value));
      }
    }

    @Override
    public void put(int family, byte[] key, byte[] value) {
      row(family, key, value);
    }

    @Override
    public void put(byte[] key, byte[] value) {
      row(0, key, value);
    }

    @Override
    public void delete(int family, byte[] key) {
      row(family, key, new byte[0]);
    }

    @Override
    public void delete(byte[] key) {
      row(0, key, new byte[0]);
    }

    @Override
    public void merge(int family, byte[] key, byte[] value) {
      throw new IllegalStateException("no row is merged");
    }

    @Override
    public void merge(byte[] key, byte[] value) {
      throw new IllegalStateException("no row is merged");
    }

    @Override
    public void singleDelete(int family, byte[] key) {
      row(family, key, new byte[0]);
    }

    @Override
    public void singleDelete(byte[] key) {
      row(0, key, new byte[0]);
    }

    @Override
    public void deleteRange(int family, byte[] from, byte[] to) {
      throw new IllegalStateException("no range is removed");
    }

    @Override
    public void deleteRange(byte[] from, byte[] to) {
      throw new IllegalStateException("no range is removed");
    }

    @Override
    public void logData(byte[] blob) {}

    @Override
    public void putBlobIndex(int family, byte[] key, byte[] value) {
      row(family, key, value);
    }

    @Override
    public void markBeginPrepare() {}

    @Override
    public void markEndPrepare(byte[] xid) {}

    @Override
    public void markNoop(boolean emptyBatch) {}

    @Override
    public void markRollback(byte[] xid) {}

    @Override
    public void markCommit(byte[] xid) {}

    @Override
    public void markCommitWithTimestamp(byte[] xid, byte[] time) {}
  }
}
