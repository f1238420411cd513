package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rocksdb.AbstractNativeReference;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The RocksDB database. Native memory must not be touched after closing, so every use holds a
 * shared lock that {@link #close} takes exclusively.
 */
final class Store implements AutoCloseable {
  /** Column families (spec/storage.md). */
  enum Family {
    /** Rows about the ledger itself. RocksDB insists on the name of this one. */
    DEFAULT,
    /** run key, seq → position in the log, event bytes. */
    EVENTS,
    /** position → the nodes that this leaf completes, then the event's key. */
    LOG,
    /** run key → seq of its last event. */
    RUNS,
    /** payload digest → envelope bytes. */
    DOCUMENTS,
    /** digest → small content. */
    BLOBS,
    /** digest → size of a file under blobs/. */
    FILES,
    /** table, key → value. */
    TABLES,
    /** size → signed note. */
    CHECKPOINTS;

    byte[] bytes() {
      return Names.utf8("column family", name().toLowerCase(Locale.ROOT));
    }
  }

  /** Takes a row; false ends the scan. */
  @FunctionalInterface
  interface Visitor {
    boolean row(byte[] key, byte[] value);
  }

  record Row(byte[] key, byte[] value) {}

  /** Kept WAL files are overwritten in place: their size stands, so a sync writes no metadata. */
  private static final int WAL_FILES_RECYCLED = 4;

  private static final long WRITE_BUFFER_BYTES = 32L << 20;
  private static final long WAL_BYTES_MAX = 64L << 20;
  private static final long BLOCK_CACHE_BYTES = 64L << 20;
  private static final int BLOOM_BITS = 10;

  private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock();
  private final List<AbstractNativeReference> natives = new ArrayList<>();
  private final List<ColumnFamilyHandle> handles = new ArrayList<>();
  private final WriteOptions synced;
  private final ReadOptions reading;
  private final RocksDB db;

  /** Where a reader's RocksDB keeps a log of its own, away from the ledger. */
  private final Optional<Path> scratch;

  private boolean closed;

  private Store(Path dir, Optional<Path> scratch, boolean create) {
    this.scratch = scratch;
    RocksDB.loadLibrary();
    synced = own(new WriteOptions().setSync(true));
    reading = own(new ReadOptions());
    try {
      DBOptions options = own(databaseOptions(create, scratch.isPresent()));
      ColumnFamilyOptions familyOptions = own(familyOptions());
      List<ColumnFamilyDescriptor> families = new ArrayList<>();
      for (Family family : Family.values()) {
        families.add(new ColumnFamilyDescriptor(family.bytes(), familyOptions));
      }
      db =
          scratch.isPresent()
              ? RocksDB.openAsSecondary(
                  options, dir.toString(), scratch.get().toString(), families, handles)
              : RocksDB.open(options, dir.toString(), families, handles);
    } catch (RocksDBException e) {
      closeNatives();
      throw Failures.of("opening " + dir, e);
    }
  }

  /** Makes a database. */
  static Store create(Path dir) {
    return new Store(dir, Optional.empty(), true);
  }

  /** Opens the database as its one writer. */
  static Store open(Path dir) {
    return new Store(dir, Optional.empty(), false);
  }

  /** Opens it for reading, beside a writer or without one; it follows by {@link #catchUp}. */
  static Store openReader(Path dir) {
    Path scratch;
    try {
      scratch = Files.createTempDirectory("writ-reader");
    } catch (IOException e) {
      throw Failures.of("making a scratch directory", e);
    }
    try {
      return new Store(dir, Optional.of(scratch), false);
    } catch (WritException e) {
      delete(scratch);
      throw e;
    }
  }

  private static void delete(Path scratch) {
    try {
      DurableFiles.deleteTree(scratch);
    } catch (IOException e) {
      throw Failures.of("removing " + scratch, e);
    }
  }

  private <T extends AbstractNativeReference> T own(T reference) {
    natives.add(reference);
    return reference;
  }

  private static DBOptions databaseOptions(boolean create, boolean secondary) {
    DBOptions options =
        new DBOptions()
            .setCreateIfMissing(create)
            .setErrorIfExists(create)
            .setCreateMissingColumnFamilies(create)
            .setParanoidChecks(true)
            .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
            .setKeepLogFileNum(2)
            .setMaxTotalWalSize(WAL_BYTES_MAX)
            .setMaxOpenFiles(-1);
    return secondary ? options : options.setRecycleLogFileNum(WAL_FILES_RECYCLED);
  }

  private ColumnFamilyOptions familyOptions() {
    Cache cache = own(new LRUCache(BLOCK_CACHE_BYTES));
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setFilterPolicy(own(new BloomFilter(BLOOM_BITS)));
    return new ColumnFamilyOptions()
        .setWriteBufferSize(WRITE_BUFFER_BYTES)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        .setTableFormatConfig(table);
  }

  /** Something done with the open database. */
  @FunctionalInterface
  private interface Use<T> {
    T apply() throws RocksDBException;
  }

  private <T> T using(String doing, Use<T> use) {
    gate.readLock().lock();
    try {
      if (closed) {
        throw new WritException(LedgerError.CLOSED, "");
      }
      return use.apply();
    } catch (RocksDBException e) {
      throw Failures.of(doing, e);
    } finally {
      gate.readLock().unlock();
    }
  }

  ColumnFamilyHandle handle(Family family) {
    return handles.get(family.ordinal());
  }

  Optional<byte[]> get(Family family, byte[] key) {
    return using("reading", () -> Optional.ofNullable(db.get(handle(family), reading, key)));
  }

  boolean has(Family family, byte[] key) {
    return using(
        "reading",
        () -> db.get(handle(family), reading, key, new byte[0]) != RocksDB.NOT_FOUND);
  }

  /** Visits the rows whose keys begin with {@code prefix}, from {@code from} on, in key order. */
  void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
    using(
        "scanning",
        () -> {
          try (RocksIterator rows = db.newIterator(handle(family), reading)) {
            for (rows.seek(from); rows.isValid(); rows.next()) {
              byte[] key = rows.key();
              if (!Keys.startsWith(key, prefix) || !visitor.row(key, rows.value())) {
                break;
              }
            }
            rows.status();
            return null;
          }
        });
  }

  /** The row with the greatest key. */
  Optional<Row> last(Family family) {
    return using(
        "reading",
        () -> {
          try (RocksIterator rows = db.newIterator(handle(family), reading)) {
            rows.seekToLast();
            rows.status();
            return rows.isValid() ? Optional.of(new Row(rows.key(), rows.value())) : Optional.empty();
          }
        });
  }

  /** The row with the least key that is {@code key} or greater. */
  Optional<Row> atLeast(Family family, byte[] key) {
    return using(
        "reading",
        () -> {
          try (RocksIterator rows = db.newIterator(handle(family), reading)) {
            rows.seek(key);
            rows.status();
            return rows.isValid() ? Optional.of(new Row(rows.key(), rows.value())) : Optional.empty();
          }
        });
  }

  /** Writes a batch and returns when it is on the disk. */
  void write(WriteBatch batch) {
    using(
        "writing",
        () -> {
          db.write(synced, batch);
          return null;
        });
  }

  /** Reads every block of every file and compares checksums. */
  void verifyChecksums() {
    using(
        "verifying checksums",
        () -> {
          db.verifyChecksum();
          return null;
        });
  }

  /** Takes in what the writer has made durable since. */
  void catchUp() {
    using(
        "catching up",
        () -> {
          db.tryCatchUpWithPrimary();
          return null;
        });
  }

  @Override
  public void close() {
    gate.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        handles.forEach(AbstractNativeReference::close);
        try {
          db.closeE();
        } catch (RocksDBException e) {
          throw Failures.of("closing", e);
        } finally {
          db.close();
          closeNatives();
          scratch.ifPresent(Store::delete);
        }
      }
    } finally {
      gate.writeLock().unlock();
    }
  }

  private void closeNatives() {
    natives.reversed().forEach(AbstractNativeReference::close);
  }

}
