package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.DatabaseProvider;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.MemoryStorage;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Databases in memory, by the names in their addresses: {@code memory:a}. */
public final class MemoryDatabases implements DatabaseProvider {
  static final Map<String, MemoryStorage> MADE = new TreeMap<>();

  /** What a reader sees instead of the rows that were written. */
  static boolean forgetsARow;

  @Override
  public String scheme() {
    return "memory";
  }

  @Override
  public Database at(URI address) {
    return new Named(address.getSchemeSpecificPart());
  }

  private record Named(String name) implements Database {
    @Override
    public Storage create() {
      if (MADE.containsKey(name)) {
        throw new WritException(LedgerError.EXISTS, name);
      }
      MADE.put(name, new MemoryStorage());
      return MADE.get(name);
    }

    @Override
    public void undoCreation() {
      MADE.remove(name);
    }

    @Override
    public Storage open() {
      return MADE.computeIfPresent(name, (_, closed) -> closed.snapshot());
    }

    @Override
    public Storage openReader() {
      MemoryStorage seen = MADE.get(name).snapshot();
      if (forgetsARow) {
        Optional<Storage.Row> last = seen.last(Family.DOCUMENTS);
        long size = seen.rows(Family.LOG).size();
        try (Write write = seen.newWrite()) {
          last.ifPresent(row -> write.delete(Family.DOCUMENTS, row.key()));
          seen.write(write, size, size);
        }
      }
      return seen;
    }
  }
}
