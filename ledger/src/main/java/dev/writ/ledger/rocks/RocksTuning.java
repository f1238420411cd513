package dev.writ.ledger.rocks;

import dev.writ.canonicalize.disk.Descriptors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.rocksdb.AbstractNativeReference;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;

/** The options of a database, with the native objects that they hold. */
final class RocksTuning implements AutoCloseable {
  /**
   * Kept WAL files are overwritten in place: their size does not change, so a sync writes no
   * metadata.
   */
  private static final int WAL_FILES_RECYCLED = 4;

  private static final long WRITE_BUFFER_BYTES = 32L << 20;

  /** What an opening after a crash reads and writes into tables, however long the ledger is. */
  private static final long WAL_BYTES_MAX = 32L << 20;

  /** Twice the default, since logs of that size make tables of half the size. */
  private static final int TABLES_UNTIL_MERGED = 8;

  private static final long BLOCK_CACHE_BYTES = 64L << 20;

  /** Of a reader, which goes through a ledger once. */
  private static final long READER_CACHE_BYTES = 16L << 20;

  private static final int BLOOM_BITS = 10;

  /** Of a memtable's size, for its filter. */
  private static final double MEMTABLE_FILTER = 0.02;

  /** Of a table, uncompressed: what one read decompresses. */
  private static final int BLOCK_BYTES = 16 << 10;

  private static final int ZSTD_LEVEL = 1;

  /** For a writer; RocksDB closes the files that were not used for longest. */
  private static final int FILES_OPEN_MAX = 4096;

  private final List<AbstractNativeReference> natives = new ArrayList<>();
  private final DBOptions database;
  private final ColumnFamilyOptions families;

  /**
   * @param scratch where a reader's RocksDB writes its own log; a writer has none
   */
  RocksTuning(boolean create, Optional<Path> scratch) {
    database = own(databaseOptions(create, scratch));
    families = own(familyOptions(scratch.isPresent()));
  }

  DBOptions database() {
    return database;
  }

  /** An opening is not to write what logs hold into tables. */
  void leaveLogs() {
    database.setAvoidFlushDuringRecovery(true);
  }

  /** Of every family. */
  ColumnFamilyOptions families() {
    return families;
  }

  private <T extends AbstractNativeReference> T own(T reference) {
    natives.add(reference);
    return reference;
  }

  private static DBOptions databaseOptions(boolean create, Optional<Path> scratch) {
    DBOptions options =
        new DBOptions()
            .setCreateIfMissing(create)
            .setErrorIfExists(create)
            .setCreateMissingColumnFamilies(create)
            .setParanoidChecks(true)
            .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
            .setKeepLogFileNum(2)
            // So many threads open the files of each family and end again: 16 of eight families
            // cost more than most ledgers have files.
            .setMaxFileOpeningThreads(2)
            .setMaxTotalWalSize(WAL_BYTES_MAX)
            // One thread writes, so the cheaper memtable insertion is right.
            .setAllowConcurrentMemtableWrite(false)
            .setEnableWriteThreadAdaptiveYield(false);
    // A reader keeps all files open, so that it can still read those that the writer has compacted
    // away.
    return scratch.isPresent()
        ? options.setDbLogDir(scratch.get().toString()).setMaxOpenFiles(-1)
        : options.setRecycleLogFileNum(WAL_FILES_RECYCLED).setMaxOpenFiles(filesOpenMax());
  }

  /**
   * A quarter of the descriptors of the process, so that a large ledger leaves the rest to
   * connections and tools.
   */
  private static int filesOpenMax() {
    return Math.clamp(Descriptors.limit().orElse(FILES_OPEN_MAX) / 4, 64, FILES_OPEN_MAX);
  }

  private ColumnFamilyOptions familyOptions(boolean reader) {
    Cache cache = own(new LRUCache(reader ? READER_CACHE_BYTES : BLOCK_CACHE_BYTES));
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setBlockSize(BLOCK_BYTES)
            .setFilterPolicy(own(new BloomFilter(BLOOM_BITS)));
    return new ColumnFamilyOptions()
        .setWriteBufferSize(WRITE_BUFFER_BYTES)
        .setLevel0FileNumCompactionTrigger(TABLES_UNTIL_MERGED)
        // Most rows that are asked for before a write are absent: the filters answer so without a
        // search, here for rows that are in no table yet.
        .setMemtablePrefixBloomSizeRatio(reader ? 0 : MEMTABLE_FILTER)
        .setMemtableWholeKeyFiltering(true)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        // What stays is compressed more, at the lowest level: rows are packed already, so a higher
        // one or a dictionary saves less than a hundredth for each tenth that it takes longer.
        .setBottommostCompressionType(CompressionType.ZSTD_COMPRESSION)
        .setBottommostCompressionOptions(
            own(new CompressionOptions().setEnabled(true).setLevel(ZSTD_LEVEL)))
        .setTableFormatConfig(table);
  }

  @Override
  public void close() {
    natives.reversed().forEach(AbstractNativeReference::close);
  }
}
