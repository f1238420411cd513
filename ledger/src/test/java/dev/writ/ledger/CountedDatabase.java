package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.MemoryStorage;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.util.Optional;

/**
 * A database in memory that counts its writers and refuses all but the last, as PostgreSQL does.
 */
final class CountedDatabase implements Database {
  private MemoryStorage rows = new MemoryStorage();
  private long writers;

  /** Loses what was written since, as a failover may. */
  void restore(MemoryStorage before) {
    rows = before;
  }

  MemoryStorage backUp() {
    return rows.snapshot();
  }

  @Override
  public Storage create() {
    return open();
  }

  @Override
  public Storage open() {
    return new Opened(Optional.of(++writers));
  }

  @Override
  public Storage openReader() {
    return new Opened(Optional.empty());
  }

  private final class Opened implements Storage {
    private final Optional<Long> epoch;

    Opened(Optional<Long> epoch) {
      this.epoch = epoch;
    }

    @Override
    public Optional<Long> epoch() {
      return epoch;
    }

    @Override
    public Optional<byte[]> get(Family family, byte[] key) {
      return rows.get(family, key);
    }

    @Override
    public boolean has(Family family, byte[] key) {
      return rows.has(family, key);
    }

    @Override
    public void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
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
    public Write newWrite() {
      return rows.newWrite();
    }

    @Override
    public void write(Write write, long size, long newSize) {
      if (epoch.orElseThrow() != writers) {
        throw new WritException(LedgerError.TAKEN_OVER, "writer " + writers);
      }
      rows.write(write, size, newSize);
    }

    @Override
    public void close() {}
  }
}
