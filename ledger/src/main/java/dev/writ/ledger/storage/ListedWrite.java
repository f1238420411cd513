package dev.writ.ledger.storage;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** A write as the list of its changes, for a database that has no form of its own for it. */
public final class ListedWrite implements Write {

  /**
   * A change of one row.
   *
   * @param value nothing where the row is removed
   * @param unlessThere whether a row that is there stays as it is
   */
  public record Change(Family family, byte[] key, Optional<byte[]> value, boolean unlessThere) {}

  private final List<Change> changes = new ArrayList<>();
  private long bytes;

  /** In the order in which they were given. */
  public List<Change> changes() {
    return Collections.unmodifiableList(changes);
  }

  private void add(Change change) {
    changes.add(change);
    bytes += change.key().length + change.value().map(value -> value.length).orElse(0);
  }

  @Override
  public void put(Family family, byte[] key, byte[] value) {
    add(new Change(family, key, Optional.of(value), false));
  }

  @Override
  public void putNew(Family family, byte[] key, byte[] value) {
    add(new Change(family, key, Optional.of(value), true));
  }

  @Override
  public void delete(Family family, byte[] key) {
    add(new Change(family, key, Optional.empty(), false));
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public void close() {
    changes.clear();
  }
}
