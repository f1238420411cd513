package dev.writ.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Names;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.MemoryStorage;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;

/**
 * A store in memory for the simulation. It promises what RocksDB with synced writes does: a write
 * is there as a whole when it has returned, and as a whole or not at all where it failed or the
 * power went before. What it holds outlives the ledger over it.
 */
public final class MemoryStore implements Storage {
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

  private final MemoryStorage rows;
  private final Faults faults;
  private Runnable unlock = () -> {};

  /** As this process counts them, −1 before it wrote: RocksDB sees no other writer either. */
  private long logSize = -1;

  private MemoryStore(Faults faults, MemoryStorage rows) {
    this.faults = faults;
    this.rows = rows;
  }

  /** That of a new ledger, whose files it makes. */
  public static MemoryStore found(LedgerConfig config) throws IOException {
    String origin = config.origin();
    MemoryStorage rows = new MemoryStorage();
    try (Write meta = rows.newWrite()) {
      meta.put(Family.DEFAULT, MetaRow.ORIGIN.key(), Names.utf8("origin", origin));
      meta.put(Family.DEFAULT, MetaRow.INCARNATION.key(), Keys.number(1));
      meta.put(Family.DEFAULT, MetaRow.HIGH_WATER.key(), Keys.number(0));
      rows.write(meta, 0, 0);
    }
    config.files().createDirectory(config.dir());
    config.files().createDirectory(config.dir().resolve("db"));
    Format.write(config.files(), config.dir());
    Blobs.create(config.files(), config.dir().resolve("blobs"));
    config.files().createDirectories(config.anchor().getParent());
    StoreView.Durable durable = StoreView.Durable.load(rows);
    new Anchor(origin, 1, 0, durable.frontier().root(), config.clock().instant())
        .write(config.files(), config.anchor());
    return new MemoryStore(Faults.NONE, rows);
  }

  /** What is there after the process has ended, with the faults of the next one. */
  public MemoryStore after(Faults next) {
    return new MemoryStore(next, rows.snapshot());
  }

  /** The same database for a second process beside the first, should it get in. */
  public MemoryStore beside() {
    return new MemoryStore(faults, rows);
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
        new OneDatabase(config.dir().resolve("db"), host),
        config,
        path -> host.apply(path).map(unlock -> unlock::run),
        new Workers(threads, threads, 0));
  }

  /** This store, behind a lock where RocksDB has its own. */
  private final class OneDatabase implements Database {
    private final Path dir;
    private final Function<Path, Optional<Runnable>> host;

    OneDatabase(Path dir, Function<Path, Optional<Runnable>> host) {
      this.dir = dir;
      this.host = host;
    }

    @Override
    public Storage create() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Storage open() {
      return locked(dir.resolve("LOCK"), host);
    }

    @Override
    public Storage openReader() {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<Path> locks() {
      return List.of(dir, dir.resolve("LOCK"));
    }
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
    for (Family family : Family.values()) {
      rows.rows(family)
          .forEach((key, value) -> {
            digest.update((family + " " + key.length + " " + value.length + " ").getBytes(UTF_8));
            digest.update(key);
            digest.update(value);
          });
    }
    return Digest.ofBytes(digest.digest());
  }

  /** Every content that it says there is, in a file or in a row. */
  public List<Digest> contents() {
    List<Digest> all = files();
    rows.rows(Family.BLOBS).keySet().forEach(key -> all.add(Digest.ofBytes(key)));
    return all;
  }

  /** Every content that it says there is in a file. */
  public List<Digest> files() {
    List<Digest> all = new ArrayList<>();
    rows.rows(Family.FILES).keySet().forEach(key -> all.add(Digest.ofBytes(key)));
    return all;
  }

  @Override
  public Write newWrite() {
    return rows.newWrite();
  }

  @Override
  public void write(Write write, long size, long newSize) {
    faults.access();
    Fate fate = faults.write();
    if (fate != Fate.FAILED) {
      long there = rows.rows(Family.LOG).size();
      logSize = logSize < 0 ? there : logSize;
      if (size != logSize) {
        throw new WritException(LedgerError.TAKEN_OVER, size + " events, not " + logSize);
      }
      rows.write(write, there, newSize);
      logSize = newSize;
    }
    faults.access();
    if (fate != Fate.DONE) {
      throw new WritException(LedgerError.STORAGE, "writing: a simulated fault");
    }
  }

  @Override
  public Optional<byte[]> get(Family family, byte[] key) {
    faults.access();
    return rows.get(family, key);
  }

  @Override
  public boolean has(Family family, byte[] key) {
    return get(family, key).isPresent();
  }

  @Override
  public void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
    faults.access();
    rows.scan(family, prefix, from, visitor);
  }

  @Override
  public Optional<Row> last(Family family) {
    return rows.last(family);
  }

  @Override
  public Optional<Row> atLeast(Family family, byte[] key) {
    return rows.atLeast(family, key);
  }

  @Override
  public void close() {
    unlock.run();
  }
}
