package dev.writ.ledger.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Rows in memory, for tests and simulations: as durable as the process. A {@linkplain #snapshot
 * snapshot} has the same rows, and changes of one are not seen by the other.
 */
public final class MemoryStorage implements Storage {
  private final EnumMap<Family, TreeMap<byte[], byte[]>> rows;

  /** Families whose rows a snapshot has, too: they are copied before they change. */
  private final EnumSet<Family> shared;

  private boolean closed;

  /** Without rows. */
  public MemoryStorage() {
    this(new EnumMap<>(Family.class), EnumSet.noneOf(Family.class));
    for (Family family : Family.values()) {
      rows.put(family, new TreeMap<>(Arrays::compareUnsigned));
    }
  }

  private MemoryStorage(EnumMap<Family, TreeMap<byte[], byte[]>> rows, EnumSet<Family> shared) {
    this.rows = rows;
    this.shared = shared;
  }

  /** The rows as they are now, also of a storage that is closed. */
  public synchronized MemoryStorage snapshot() {
    shared.addAll(rows.keySet());
    return new MemoryStorage(new EnumMap<>(rows), EnumSet.copyOf(shared));
  }

  /** All rows of a family. They change with the storage. */
  public synchronized SortedMap<byte[], byte[]> rows(Family family) {
    return Collections.unmodifiableSortedMap(rows.get(family));
  }

  private TreeMap<byte[], byte[]> changing(Family family) {
    if (shared.remove(family)) {
      rows.put(family, new TreeMap<>(rows.get(family)));
    }
    return rows.get(family);
  }

  private TreeMap<byte[], byte[]> reading(Family family) {
    if (closed) {
      throw new WritException(LedgerError.CLOSED, "");
    }
    return rows.get(family);
  }

  @Override
  public synchronized Optional<byte[]> get(Family family, byte[] key) {
    return Optional.ofNullable(reading(family).get(key));
  }

  @Override
  public boolean has(Family family, byte[] key) {
    return get(family, key).isPresent();
  }

  @Override
  public void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
    for (Row row : rows(family, prefix, from)) {
      if (!visitor.row(row.key(), row.value())) {
        return;
      }
    }
  }

  private synchronized List<Row> rows(Family family, byte[] prefix, byte[] from) {
    List<Row> found = new ArrayList<>();
    for (Map.Entry<byte[], byte[]> row : reading(family).tailMap(from, true).entrySet()) {
      if (!Storage.startsWith(row.getKey(), prefix)) {
        break;
      }
      found.add(new Row(row.getKey(), row.getValue()));
    }
    return found;
  }

  @Override
  public synchronized Optional<Row> last(Family family) {
    return row(reading(family).lastEntry());
  }

  @Override
  public synchronized Optional<Row> atLeast(Family family, byte[] key) {
    return row(reading(family).ceilingEntry(key));
  }

  private static Optional<Row> row(Map.Entry<byte[], byte[]> entry) {
    return Optional.ofNullable(entry).map(found -> new Row(found.getKey(), found.getValue()));
  }

  @Override
  public Write newWrite() {
    return new ListedWrite();
  }

  @Override
  public synchronized void write(Write write, long size, long newSize) {
    long found = reading(Family.LOG).size();
    if (size != found) {
      throw new WritException(
          LedgerError.TAKEN_OVER, "the log has " + found + " events, not " + size);
    }
    for (ListedWrite.Change change : ((ListedWrite) write).changes()) {
      TreeMap<byte[], byte[]> changing = changing(change.family());
      if (change.unlessThere() && changing.containsKey(change.key())) {
        continue;
      }
      change
          .value()
          .ifPresentOrElse(
              value -> changing.put(change.key(), value), () -> changing.remove(change.key()));
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
  }
}
