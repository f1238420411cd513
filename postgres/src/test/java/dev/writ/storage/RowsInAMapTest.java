package dev.writ.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The contract itself, on the simplest storage that can keep it. */
class RowsInAMapTest extends StorageContract {
  @Override
  protected Place place() {
    return new Place() {
      private final Shared shared = new Shared();

      @Override
      public Storage create() {
        return new InAMap(shared);
      }

      @Override
      public Storage open() {
        return new InAMap(shared);
      }

      @Override
      public void close() {}
    };
  }

  private record Key(Family family, byte[] bytes) {
    static int compare(Key a, Key b) {
      int families = a.family().compareTo(b.family());
      return families == 0 ? Arrays.compareUnsigned(a.bytes(), b.bytes()) : families;
    }
  }

  /** What is left when a storage is closed. The map is replaced by a write, never changed. */
  private static final class Shared {
    private TreeMap<Key, byte[]> rows = new TreeMap<>(Key::compare);
    private long size;
    private long epoch;
  }

  private static final class Gathered implements Write {
    private final List<Map.Entry<Key, Optional<byte[]>>> operations = new ArrayList<>();
    private long bytes;

    @Override
    public void put(Family family, byte[] key, byte[] value) {
      operations.add(Map.entry(new Key(family, key), Optional.of(value)));
      bytes += key.length + value.length;
    }

    @Override
    public void delete(Family family, byte[] key) {
      operations.add(Map.entry(new Key(family, key), Optional.empty()));
      bytes += key.length;
    }

    @Override
    public long bytes() {
      return bytes;
    }

    @Override
    public void close() {}
  }

  private static final class InAMap implements Storage {
    private final Shared shared;
    private final long epoch;
    private volatile boolean closed;

    InAMap(Shared shared) {
      this.shared = shared;
      synchronized (shared) {
        epoch = ++shared.epoch;
      }
    }

    private TreeMap<Key, byte[]> rows() {
      synchronized (shared) {
        if (closed) {
          throw new WritException(LedgerError.CLOSED, "");
        }
        return shared.rows;
      }
    }

    @Override
    public Optional<byte[]> get(Family family, byte[] key) {
      return Optional.ofNullable(rows().get(new Key(family, key))).map(byte[]::clone);
    }

    @Override
    public boolean has(Family family, byte[] key) {
      return rows().containsKey(new Key(family, key));
    }

    @Override
    public void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
      for (Map.Entry<Key, byte[]> row : rows().tailMap(new Key(family, from), true).entrySet()) {
        if (row.getKey().family() != family
            || !Storage.startsWith(row.getKey().bytes(), prefix)
            || !visitor.row(row.getKey().bytes().clone(), row.getValue().clone())) {
          return;
        }
      }
    }

    @Override
    public Optional<Row> last(Family family) {
      Row[] last = {null};
      scan(
          family,
          new byte[0],
          new byte[0],
          (key, value) -> {
            last[0] = new Row(key, value);
            return true;
          });
      return Optional.ofNullable(last[0]);
    }

    @Override
    public Optional<Row> atLeast(Family family, byte[] key) {
      return Optional.ofNullable(rows().ceilingEntry(new Key(family, key)))
          .filter(row -> row.getKey().family() == family)
          .map(row -> new Row(row.getKey().bytes().clone(), row.getValue().clone()));
    }

    @Override
    public Write newWrite() {
      return new Gathered();
    }

    @Override
    public void write(Write write, long size, long newSize) {
      synchronized (shared) {
        TreeMap<Key, byte[]> next = new TreeMap<>(rows());
        if (shared.epoch != epoch || shared.size != size) {
          throw new WritException(LedgerError.TAKEN_OVER, shared.size + ", not " + size);
        }
        ((Gathered) write)
            .operations.forEach(operation ->
                operation
                    .getValue()
                    .ifPresentOrElse(
                        value -> next.put(operation.getKey(), value),
                        () -> next.remove(operation.getKey())));
        shared.rows = next;
        shared.size = newSize;
      }
    }

    @Override
    public void verifyChecksums() {
      rows();
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
