package dev.writ.ledger.rocks;

import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.NativeLibraries;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.ledger.disk.WatchedName;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import org.rocksdb.AbstractNativeReference;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.rocksdb.util.Environment;

/**
 * The RocksDB database. Native memory must not be touched after closing, so every use holds a
 * shared lock that {@link #close} takes exclusively.
 */
public final class RocksStorage implements Storage {
  /** To which length logs are written beforehand; they grow beyond it where they have to. */
  private static final int LOG_BYTES = 16 << 20;

  private static final int LOG_FILLING_BYTES = 1 << 20;

  private static final String LEAST_LOG_NEEDED = "rocksdb.min-log-number-to-keep";

  /** How often a reader reopens because the writer moved its files meanwhile. */
  private static final int READER_ATTEMPTS = 20;

  private static boolean loaded;

  /** An open database with its column families. */
  private record Opened(RocksDB db, List<ColumnFamilyHandle> handles) {
    /** Errors on closing are ignored: everything that was acknowledged has been synced. */
    void close() {
      handles.forEach(AbstractNativeReference::close);
      db.close();
    }
  }

  private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock();
  private final Path dir;

  /** Where a reader's RocksDB writes its own log, outside the ledger; a writer has none. */
  private final Optional<TemporaryDirectory> scratch;

  /** What {@link #dir} led to when a writer opened it; empty for a reader. */
  private final Optional<WatchedName> place;

  /** Whether it may open without writing what logs hold into tables. */
  private final boolean leavesLogs;

  private final RocksTuning tuning;
  private final ColumnFamilyOptions familyOptions;
  private final WriteOptions synced;
  private final ReadOptions reading;
  private Opened opened;
  private boolean closed;

  /** Whether an operation of RocksDB has failed, so that it is not known what is on the disk. */
  private volatile boolean failed;

  /**
   * Rows of the log that the next write continues; −1 before the first. Only the writer uses it.
   */
  private volatile long logSize = -1;

  private RocksStorage(
      Path dir,
      Optional<TemporaryDirectory> scratch,
      boolean create,
      boolean leavesLogs,
      UnaryOperator<ColumnFamilyOptions> tuned) {
    loadLibrary();
    this.dir = dir;
    this.leavesLogs = leavesLogs;
    this.scratch = scratch;
    synced = new WriteOptions().setSync(true);
    reading = new ReadOptions();
    tuning = new RocksTuning(create, scratch.map(TemporaryDirectory::path));
    familyOptions = tuned.apply(tuning.families());
    try {
      opened = scratch.isPresent() ? openStill() : open();
      place = scratch.isPresent() ? Optional.empty() : Optional.of(WatchedName.of(dir));
    } catch (RocksDBException e) {
      closeNatives();
      throw Failures.of("opening " + dir, e);
    } catch (WritException e) {
      closeNatives();
      throw e;
    }
  }

  /** Loads RocksDB's native library, once, from where no other user can put one. */
  public static synchronized void loadLibrary() {
    if (!loaded) {
      NativeLibraries.load(
          RocksDB.class,
          Environment.getJniLibraryFileName("rocksdb"),
          // The name that loadLibrary(List) looks for: it adds "jni" twice (11.8.1).
          Environment.getJniLibraryFileName("rocksdbjni"),
          directory -> RocksDB.loadLibrary(List.of(directory.toString())));
      loaded = true;
    }
  }

  private Opened open() throws RocksDBException {
    if (Files.exists(dir.resolve("CURRENT"))) {
      ManifestCheck.verify(ManifestFile.read(dir));
    }
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    for (Family family : Family.values()) {
      families.add(new ColumnFamilyDescriptor(name(family), familyOptions));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    if (scratch.isEmpty()) {
      ClosedLogs.requireWhole(dir);
    }
    if (leavesLogs && ClosedLogs.mayStay(dir)) {
      tuning.leaveLogs();
    }
    RocksDB db =
        scratch.isPresent()
            ? RocksDB.openReadOnly(tuning.database(), dir.toString(), families, handles)
            : RocksDB.open(tuning.database(), dir.toString(), families, handles);
    return new Opened(db, handles);
  }

  /**
   * Opens for reading while a writer may work. The result is complete only if the writer did not
   * flush meanwhile, since a flush frees logs that the opened manifest still needs. So opening is
   * repeated until the manifest did not change during it. (RocksDB's secondary instance, made for
   * this, loops for ever on recycled logs: 11.8.1.)
   */
  private Opened openStill() throws RocksDBException {
    for (int attempt = 0; attempt < READER_ATTEMPTS; attempt++) {
      String before = ManifestFile.state(dir);
      Opened fresh;
      try {
        fresh = open();
      } catch (RocksDBException | WritException e) {
        if (ManifestFile.state(dir).equals(before)) {
          throw e;
        }
        continue;
      }
      if (ManifestFile.state(dir).equals(before)) {
        return fresh;
      }
      fresh.close();
    }
    throw new WritException(
        LedgerError.STORAGE,
        dir + ": the writer moved its files on " + READER_ATTEMPTS + " attempts");
  }

  /** Makes a database. */
  static RocksStorage create(Path dir) {
    return new RocksStorage(dir, Optional.empty(), true, false, UnaryOperator.identity());
  }

  /** Opens the database as its one writer. */
  public static RocksStorage open(Path dir) {
    return new RocksStorage(dir, Optional.empty(), false, true, UnaryOperator.identity());
  }

  /**
   * Writes what write-ahead logs hold into tables, and merges none, so that every table of before
   * stays as it is.
   *
   * @return the names of the tables
   */
  static List<String> settle(Path dir) {
    try (RocksStorage storage =
        new RocksStorage(
            dir,
            Optional.empty(),
            false,
            false,
            families -> families.setDisableAutoCompactions(true))) {
      return storage.using(
          "listing tables",
          () ->
              storage.opened.db().getLiveFilesMetaData().stream()
                  // RocksDB puts a slash before each name.
                  .map(table -> table.fileName().substring(1))
                  .toList());
    }
  }

  /** Opens it for reading, beside a writer or without one; it follows by {@link #catchUp}. */
  public static RocksStorage openReader(Path dir) {
    TemporaryDirectory scratch;
    try {
      scratch = TemporaryDirectory.create("writ-reader");
    } catch (IOException e) {
      throw Failures.of("making a scratch directory", e);
    }
    try {
      return new RocksStorage(dir, Optional.of(scratch), false, false, UnaryOperator.identity());
    } catch (WritException e) {
      delete(scratch);
      throw e;
    }
  }

  private static void delete(TemporaryDirectory scratch) {
    try {
      scratch.close();
    } catch (IOException e) {
      throw Failures.of("removing " + scratch.path(), e);
    }
  }

  private static byte[] name(Family family) {
    return family.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
  }

  /** An operation on the open database. */
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
      failed = true;
      throw Failures.of(doing + " in " + dir, e);
    } finally {
      gate.readLock().unlock();
    }
  }

  ColumnFamilyHandle handle(Family family) {
    return opened.handles().get(family.ordinal());
  }

  @Override
  public Optional<byte[]> get(Family family, byte[] key) {
    return using(
        "reading", () -> Optional.ofNullable(opened.db().get(handle(family), reading, key)));
  }

  @Override
  public boolean has(Family family, byte[] key) {
    return using(
        "reading",
        () -> opened.db().get(handle(family), reading, key, new byte[0]) != RocksDB.NOT_FOUND);
  }

  /** Visits the rows whose keys begin with {@code prefix}, from {@code from} on, in key order. */
  @Override
  public void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
    using(
        "scanning",
        () -> {
          try (RocksIterator rows = opened.db().newIterator(handle(family), reading)) {
            for (rows.seek(from); rows.isValid(); rows.next()) {
              byte[] key = rows.key();
              if (!Storage.startsWith(key, prefix) || !visitor.row(key, rows.value())) {
                break;
              }
            }
            rows.status();
            return null;
          }
        });
  }

  /** The row with the greatest key. */
  @Override
  public Optional<Row> last(Family family) {
    return using(
        "reading",
        () -> {
          try (RocksIterator rows = opened.db().newIterator(handle(family), reading)) {
            rows.seekToLast();
            rows.status();
            return rows.isValid()
                ? Optional.of(new Row(rows.key(), rows.value()))
                : Optional.empty();
          }
        });
  }

  /** The row with the least key that is {@code key} or greater. */
  @Override
  public Optional<Row> atLeast(Family family, byte[] key) {
    return using(
        "reading",
        () -> {
          try (RocksIterator rows = opened.db().newIterator(handle(family), reading)) {
            rows.seek(key);
            rows.status();
            return rows.isValid()
                ? Optional.of(new Row(rows.key(), rows.value()))
                : Optional.empty();
          }
        });
  }

  /** One in the database's own form, so that a row is copied once. */
  public final class RocksWrite implements Write {
    private final WriteBatch batch = new WriteBatch();

    public WriteBatch batch() {
      return batch;
    }

    @Override
    public void put(Family family, byte[] key, byte[] value) {
      try {
        batch.put(handle(family), key, value);
      } catch (RocksDBException e) {
        throw Failures.of("gathering a write for " + dir, e);
      }
    }

    @Override
    public void putNew(Family family, byte[] key, byte[] value) {
      if (!has(family, key)) { // nobody else writes meanwhile
        put(family, key, value);
      }
    }

    @Override
    public void delete(Family family, byte[] key) {
      try {
        batch.delete(handle(family), key);
      } catch (RocksDBException e) {
        throw Failures.of("gathering a write for " + dir, e);
      }
    }

    @Override
    public long bytes() {
      return batch.getDataSize();
    }

    @Override
    public void close() {
      batch.close();
    }
  }

  @Override
  public Write newWrite() {
    return new RocksWrite();
  }

  @Override
  public void write(Write write, long size, long newSize) {
    if (logSize < 0) {
      logSize = last(Family.LOG).map(row -> Keys.number(row.key()) + 1).orElse(0L);
    }
    if (size != logSize) {
      throw new WritException(
          LedgerError.TAKEN_OVER, "the log has " + logSize + " events, not " + size);
    }
    using(
        "writing",
        () -> {
          opened.db().write(synced, ((RocksWrite) write).batch());
          return null;
        });
    logSize = newSize;
  }

  /**
   * Makes two write-ahead logs of some length and releases them, so that the logs from now on are
   * written over what is there: a sync of a log that grows has to write its size, too, which takes
   * more than half as long again. What fills them is no row, and recovery skips it. All rows are
   * written into tables on the way.
   */
  @Override
  public void expectMuch() {
    using(
        "lengthening logs",
        () -> {
          byte[] origin = opened.db().get(handle(Family.DEFAULT), MetaRow.ORIGIN.key());
          if (origin == null) {
            return null; // no ledger yet
          }
          try (WriteOptions unsynced = new WriteOptions();
              FlushOptions all = new FlushOptions();
              WriteBatch filling = new WriteBatch()) {
            filling.putLogData(new byte[LOG_FILLING_BYTES]);
            for (int log = 0; log < 2; log++) {
              for (int bytes = 0; bytes < LOG_BYTES; bytes += LOG_FILLING_BYTES) {
                opened.db().write(unsynced, filling);
              }
              // Only where there is something to flush does a new log begin.
              opened.db().put(handle(Family.DEFAULT), unsynced, MetaRow.ORIGIN.key(), origin);
              opened.db().flush(all, opened.handles());
            }
          }
          return null;
        });
  }

  /** A number that every write of a row counts up. */
  public static long writes(Storage storage) {
    RocksStorage rocks = (RocksStorage) storage;
    return rocks.using("reading", () -> rocks.opened.db().getLatestSequenceNumber());
  }

  /** Reads every block of every file and compares checksums. */
  @Override
  public void verifyChecksums() {
    using(
        "verifying checksums",
        () -> {
          opened.db().verifyChecksum();
          return null;
        });
  }

  /**
   * Writes everything into tables and merges those of small contents, so that no table keeps a row
   * that was deleted.
   */
  @Override
  public void forgetDeleted() {
    using(
        "compacting",
        () -> {
          try (FlushOptions all = new FlushOptions()) {
            opened.db().flush(all, opened.handles());
          }
          compact(Family.BLOBS);
          // The compaction's own thread removes the tables that it replaced, a moment later.
          opened.db().disableFileDeletions();
          opened.db().enableFileDeletions();
          return null;
        });
  }

  /** Merges all tables of a family. */
  public void compact(Family family) {
    using(
        "compacting",
        () -> {
          opened.db().compactRange(handle(family));
          return null;
        });
  }

  /** Bytes of a family's tables; rows that are not in a table yet are not counted. */
  public long tableBytes(Family family) {
    return using(
        "reading",
        () -> opened.db().getLongProperty(handle(family), "rocksdb.live-sst-files-size"));
  }

  /**
   * Cuts off the content of write-ahead logs that the database does not need any more but keeps for
   * use as new ones. No write may be under way, since a write can begin to use one.
   */
  @Override
  @Nondeterministic("all are cut off, in whatever order")
  public void forgetUnused() {
    using(
        "cutting off obsolete logs",
        () -> {
          long needed = opened.db().getLongProperty(LEAST_LOG_NEEDED);
          try (DirectoryStream<Path> logs = Files.newDirectoryStream(dir, "*.log")) {
            for (Path log : logs) {
              Matcher name = ClosedLogs.NAME.matcher(log.getFileName().toString());
              if (name.matches() && Long.parseLong(name.group(1)) < needed) {
                truncate(log);
              }
            }
          } catch (IOException e) {
            throw Failures.of("cutting off obsolete logs in " + dir, e);
          }
          return null;
        });
  }

  private static void truncate(Path log) throws IOException {
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
      file.truncate(0);
      file.force(true);
    } catch (NoSuchFileException e) {
      // It was removed meanwhile.
    }
  }

  /** Reads what the writer has made durable since, by opening again. */
  @Override
  public void catchUp() {
    gate.writeLock().lock();
    try {
      if (closed) {
        throw new WritException(LedgerError.CLOSED, "");
      }
      Opened fresh = openStill();
      Opened stale = opened;
      opened = fresh;
      stale.close();
    } catch (RocksDBException e) {
      throw Failures.of("reading " + dir + " again", e);
    } finally {
      gate.writeLock().unlock();
    }
  }

  @Override
  public void close() {
    gate.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        boolean isOurs = place.map(this::isStillThere).orElse(false);
        opened.close();
        closeNatives();
        if (isOurs && !failed) {
          ClosedLogs.note(dir);
        }
        scratch.ifPresent(RocksStorage::delete);
      }
    } finally {
      gate.writeLock().unlock();
    }
  }

  /**
   * RocksDB ends by removing, by their names, files of the directory that it does not know. Where
   * the directory was replaced, such as by a restore, these are all that another ledger has
   * written, and are spared.
   */
  private boolean isStillThere(WatchedName place) {
    try {
      place.requireSame();
      return true;
    } catch (WritException moved) {
      try {
        opened.db().disableFileDeletions();
      } catch (RocksDBException e) {
        throw Failures.of("closing " + dir, e);
      }
      return false;
    }
  }

  private void closeNatives() {
    tuning.close();
    reading.close();
    synced.close();
  }
}
