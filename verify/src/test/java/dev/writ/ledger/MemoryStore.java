package dev.writ.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import org.rocksdb.WriteBatch;

/**
 * A store in memory for the simulation. It promises what RocksDB with synced writes does: a write
 * is there as a whole when it has returned, and as a whole or not at all where it failed or the
 * power went before. What it holds outlives the ledger over it.
 */
public final class MemoryStore extends Store {
  /** Decides what becomes of a write, and is told of each access, at which others may come in. */
  public interface Faults {
    Faults NONE =
        new Faults() {
          @Override
          public void access() {}

          @Override
          public Fate write() {
            return Fate.DONE;
          }
        };

    void access();

    Fate write();
  }

  /** What becomes of a write. */
  public enum Fate {
    DONE,
    /** It fails, and is not there. */
    FAILED,
    /** It fails, and is found to be there after the next start. */
    FAILED_AND_THERE
  }

  private record Change(Family family, byte[] key, byte[] value) {}

  private final EnumMap<Family, TreeMap<byte[], byte[]>> rows;

  /** Families whose rows another store may share: they are copied before they change. */
  private final EnumSet<Family> shared;

  private final List<Change> batch = new ArrayList<>();
  private final Faults faults;
  private Runnable unlock = () -> {};

  private MemoryStore(
      Faults faults, EnumMap<Family, TreeMap<byte[], byte[]>> rows, EnumSet<Family> shared) {
    this.faults = faults;
    this.rows = rows;
    this.shared = shared;
  }

  private static MemoryStore empty() {
    EnumMap<Family, TreeMap<byte[], byte[]>> rows = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      rows.put(family, new TreeMap<>(Arrays::compareUnsigned));
    }
    return new MemoryStore(Faults.NONE, rows, EnumSet.noneOf(Family.class));
  }

  /** That of a new ledger, whose files it makes. */
  public static MemoryStore found(LedgerConfig config) throws IOException {
    String origin = config.origin();
    loadLibrary(); // its batches are made, and stay empty
    MemoryStore store = empty();
    TreeMap<byte[], byte[]> meta = store.rows.get(Family.DEFAULT);
    meta.put(StoreView.META_ORIGIN, Names.utf8("origin", origin));
    meta.put(StoreView.META_INCARNATION, Keys.number(1));
    meta.put(StoreView.META_HIGH_WATER, Keys.number(0));
    config.files().createDirectory(config.dir());
    config.files().createDirectory(config.dir().resolve("db"));
    Format.write(config.files(), config.dir());
    Blobs.create(config.files(), config.dir().resolve("blobs"));
    config.files().createDirectories(config.anchor().getParent());
    StoreView.Durable durable = StoreView.Durable.load(store);
    new Anchor(origin, 1, 0, durable.frontier().root(), config.clock().instant())
        .write(config.files(), config.anchor());
    return store;
  }

  /** What is there after the process has ended, with the faults of the next one. */
  public MemoryStore after(Faults next) {
    shared.addAll(rows.keySet());
    return new MemoryStore(next, new EnumMap<>(rows), EnumSet.copyOf(shared));
  }

  /** The same database for a second process beside the first, should it get in. */
  public MemoryStore beside() {
    return new MemoryStore(faults, rows, shared);
  }

  private TreeMap<byte[], byte[]> changing(Family family) {
    if (shared.remove(family)) {
      rows.put(family, new TreeMap<>(rows.get(family)));
    }
    return rows.get(family);
  }

  /**
   * A ledger over it.
   *
   * @param host locks what a path leads to until it is told to let go; nothing where it is locked
   * @throws WritException {@code LED-003} where another process has it
   */
  public Ledger ledger(
      LedgerConfig config, ThreadFactory threads, Function<Path, Optional<Runnable>> host) {
    return Ledger.over(
        db -> locked(db.resolve("LOCK"), host),
        config,
        path -> host.apply(path).map(unlock -> unlock::run),
        new Workers(threads, threads, 0));
  }

  /** As RocksDB does: by a name, which it makes anew where there is none. */
  private MemoryStore locked(Path name, Function<Path, Optional<Runnable>> host) {
    try {
      if (!Files.exists(name)) {
        DurableFiles.REAL.createFile(name).close();
      }
    } catch (IOException e) {
      throw Failures.of("making " + name, e);
    }
    unlock =
        host.apply(name).orElseThrow(() -> new WritException(LedgerError.LOCKED, name.toString()));
    return this;
  }

  /** Of all that it holds. */
  public Digest digest() {
    MessageDigest digest = Digest.newSha256();
    rows.forEach((family, all) ->
        all.forEach((key, value) -> {
          digest.update((family + " " + key.length + " " + value.length + " ").getBytes(UTF_8));
          digest.update(key);
          digest.update(value);
        }));
    return Digest.ofBytes(digest.digest());
  }

  /** Every content that it says there is, in a file or in a row. */
  public List<Digest> contents() {
    List<Digest> all = files();
    rows.get(Family.BLOBS).keySet().forEach(key -> all.add(Digest.ofBytes(key)));
    return all;
  }

  /** Every content that it says there is in a file. */
  public List<Digest> files() {
    List<Digest> all = new ArrayList<>();
    rows.get(Family.FILES).keySet().forEach(key -> all.add(Digest.ofBytes(key)));
    return all;
  }

  @Override
  void put(WriteBatch unused, Family family, byte[] key, byte[] value) {
    batch.add(new Change(family, key, value));
  }

  @Override
  void delete(WriteBatch unused, Family family, byte[] key) {
    batch.add(new Change(family, key, null));
  }

  @Override
  void write(WriteBatch unused) {
    faults.access();
    Fate fate = faults.write();
    if (fate != Fate.FAILED) {
      for (Change change : batch) {
        if (change.value() == null) {
          changing(change.family()).remove(change.key());
        } else {
          changing(change.family()).put(change.key(), change.value());
        }
      }
    }
    batch.clear();
    faults.access();
    if (fate != Fate.DONE) {
      throw new WritException(LedgerError.STORAGE, "writing: a simulated fault");
    }
  }

  @Override
  Optional<byte[]> get(Family family, byte[] key) {
    faults.access();
    return Optional.ofNullable(rows.get(family).get(key));
  }

  @Override
  boolean has(Family family, byte[] key) {
    return get(family, key).isPresent();
  }

  @Override
  void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
    faults.access();
    List<Row> now = new ArrayList<>(); // as an iterator of RocksDB does, it sees one moment
    for (Map.Entry<byte[], byte[]> row : rows.get(family).tailMap(from, true).entrySet()) {
      if (!Keys.startsWith(row.getKey(), prefix)) {
        break;
      }
      now.add(new Row(row.getKey(), row.getValue()));
    }
    for (Row row : now) {
      if (!visitor.row(row.key(), row.value())) {
        return;
      }
    }
  }

  @Override
  Optional<Row> last(Family family) {
    return row(rows.get(family).lastEntry());
  }

  @Override
  Optional<Row> atLeast(Family family, byte[] key) {
    return row(rows.get(family).ceilingEntry(key));
  }

  private static Optional<Row> row(Map.Entry<byte[], byte[]> entry) {
    return Optional.ofNullable(entry).map(found -> new Row(found.getKey(), found.getValue()));
  }

  @Override
  void verifyChecksums() {}

  @Override
  void catchUp() {}

  @Override
  void compactContents() {}

  @Override
  void lengthenLogs() {}

  @Override
  void truncateObsoleteLogs() {}

  @Override
  public void close() {
    unlock.run();
  }
}
