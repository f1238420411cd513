package dev.writ.ledger.storage;

/**
 * Rows that become durable together or not at all, in the making; closed when it is done with. Not
 * thread safe. Where a key is given twice, the later one counts.
 */
public interface Write extends AutoCloseable {

  /** Puts a row in place of an earlier one with its key. The arrays must not change afterwards. */
  void put(Family family, byte[] key, byte[] value);

  /**
   * Puts a row unless there is one with its key already, which then stays. Neither {@link #put} nor
   * {@link #delete} may be given the same key.
   */
  void putNew(Family family, byte[] key, byte[] value);

  /** Removes a row, if it is there. */
  void delete(Family family, byte[] key);

  /** About how many bytes it has. */
  long bytes();

  @Override
  void close();
}
