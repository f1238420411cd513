package dev.writ.postgres;

import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Rows that the owner of a cell has read or written lately, absent ones included. Nobody else
 * writes under its epoch, so they stay as they are until its own next write
 * (spec/storage-postgres.md, "What the owner remembers"). Safe for use by many threads.
 */
final class KnownRows {
  /** Of keys and values, with what an entry takes beside them. */
  static final int BYTES_MAX = 8 << 20;

  private static final int ENTRY_BYTES = 150;

  /** A larger value is no row that is read again and again, but content. */
  private static final int VALUE_BYTES_MAX = 4096;

  /** A power of two; a write touches some 27 of them for each effect. */
  private static final int STRIPES = 1 << 16;

  /** The number of no write. */
  private static final long OVERTAKEN = -1;

  private record Key(Family family, byte[] bytes) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && family == key.family && Arrays.equals(bytes, key.bytes);
    }

    @Override
    public int hashCode() {
      return 31 * Arrays.hashCode(bytes) + family.ordinal();
    }

    int stripe() {
      int hash = hashCode();
      return (hash ^ hash >>> 16) & STRIPES - 1;
    }
  }

  /** By their last use. */
  private final LinkedHashMap<Key, Optional<byte[]>> rows = new LinkedHashMap<>(1024, 0.75f, true);

  /** The number of the last write that had a key of the stripe. */
  private final long[] touched = new long[STRIPES];

  private long begun;
  private long ended;
  private long bytes;

  /** The row, or that there is none; empty where that is not known. */
  synchronized Optional<Optional<byte[]>> get(Family family, byte[] key) {
    return Optional.ofNullable(rows.get(new Key(family, key)));
  }

  /** Those of which nothing is known. */
  synchronized List<Storage.Name> unknown(List<Storage.Name> names) {
    return names.stream()
        .filter(name -> rows.get(new Key(name.family(), name.key())) == null)
        .toList();
  }

  /** To be called before a row is read. */
  synchronized Reading reading(Family family, byte[] key) {
    Key read = new Key(family, key);
    long before = touched[read.stripe()];
    return new Reading(read, before <= ended ? before : OVERTAKEN);
  }

  /** A read under way, which a write may overtake. */
  final class Reading {
    private final Key key;
    private final long before;

    private Reading(Key key, long before) {
      this.key = key;
      this.before = before;
    }

    /** Remembers what was read, unless a write of that row was under way or has begun since. */
    void found(Optional<byte[]> value) {
      synchronized (KnownRows.this) {
        if (before == touched[key.stripe()]) {
          put(key, value);
        }
      }
    }
  }

  /** Takes out of a write what would put a row in place of the same one. */
  synchronized void leaveOutUnchanged(PostgresWrite write) {
    write
        .rows()
        .forEach((family, changed) -> {
          if (isLookedAtAgain(family)) {
            changed.entrySet().removeIf(row -> isThere(family, row.getKey(), row.getValue()));
          }
        });
  }

  /**
   * @param value null for no row
   */
  private boolean isThere(Family family, byte[] key, byte[] value) {
    Optional<byte[]> there = rows.get(new Key(family, key));
    return there != null
        && (value == null
            ? there.isEmpty()
            : there.isPresent() && Arrays.equals(there.get(), value));
  }

  /** Before a write is sent: from now on nothing is known of its rows. */
  synchronized void writing(PostgresWrite write) {
    begun++;
    write.rows().forEach((family, changed) -> touch(family, changed.keySet()));
    write.newRows().forEach((family, added) -> touch(family, added.keySet()));
  }

  private void touch(Family family, Iterable<byte[]> keys) {
    for (byte[] bytesOfKey : keys) {
      Key key = new Key(family, bytesOfKey);
      touched[key.stripe()] = begun;
      forget(key);
    }
  }

  /**
   * It is durable. Of rows that were put only where they were new, the database knows the value.
   */
  synchronized void written(PostgresWrite write) {
    ended = begun;
    write
        .rows()
        .forEach((family, changed) -> {
          if (isLookedAtAgain(family)) {
            for (Map.Entry<byte[], byte[]> row : changed.entrySet()) {
              put(new Key(family, row.getKey()), Optional.ofNullable(row.getValue()));
            }
          }
        });
  }

  /** Nothing of it was written. */
  synchronized void refused() {
    ended = begun;
  }

  private static boolean isLookedAtAgain(Family family) {
    return family == Family.TABLES || family == Family.RUNS || family == Family.DEFAULT;
  }

  private void put(Key key, Optional<byte[]> value) {
    forget(key);
    if (value.isPresent() && value.get().length > VALUE_BYTES_MAX) {
      return;
    }
    rows.put(key, value);
    bytes += size(key, value);
    Iterator<Map.Entry<Key, Optional<byte[]>>> eldest = rows.entrySet().iterator();
    while (bytes > BYTES_MAX) {
      Map.Entry<Key, Optional<byte[]>> row = eldest.next();
      bytes -= size(row.getKey(), row.getValue());
      eldest.remove();
    }
  }

  private void forget(Key key) {
    Optional<byte[]> value = rows.remove(key);
    if (value != null) {
      bytes -= size(key, value);
    }
  }

  private static long size(Key key, Optional<byte[]> value) {
    return ENTRY_BYTES + key.bytes().length + value.map(row -> row.length).orElse(0);
  }

  /** How many bytes it takes. */
  synchronized long bytes() {
    return bytes;
  }
}
