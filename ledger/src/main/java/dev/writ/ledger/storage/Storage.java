package dev.writ.ledger.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The rows of one ledger. Keys are ordered as unsigned bytes. Safe for use by many threads; only
 * one at a time writes.
 *
 * <p>A row is seen by every reader of this object once its write has returned, and by others once
 * they have {@linkplain #catchUp caught up}. All methods throw {@code LED-0xx}: {@code LED-023}
 * after closing, {@code LED-006} for damage, {@code LED-004}, {@code LED-005} or {@code LED-008}
 * where the machine below refuses.
 */
public interface Storage extends AutoCloseable {

  record Row(byte[] key, byte[] value) {}

  /** Names a row. */
  record Name(Family family, byte[] key) {}

  /** Takes a row; false ends the scan. It must not write. */
  @FunctionalInterface
  interface Visitor {
    boolean row(byte[] key, byte[] value);
  }

  /**
   * Whether a write can fail because its thread is interrupted, so that no caller's thread may do
   * it: a failed write stops the ledger for everybody.
   */
  default boolean isInterruptible() {
    return false;
  }

  Optional<byte[]> get(Family family, byte[] key);

  boolean has(Family family, byte[] key);

  /** Which of these keys have rows, in their order. One round trip where that costs anything. */
  default List<Boolean> has(Family family, List<byte[]> keys) {
    List<Boolean> found = new ArrayList<>(keys.size());
    keys.forEach(key -> found.add(has(family, key)));
    return found;
  }

  /**
   * Says that these rows will be looked at soon, whether they are there or not. Where a look is a
   * round trip, a writer may get them all in one and remember them.
   *
   * @param rows is asked for them only where they are fetched
   */
  default void expect(Supplier<List<Name>> rows) {}

  /**
   * Visits the rows whose keys begin with {@code prefix}, from {@code from} on, in key order, as
   * they are at one moment.
   */
  void scan(Family family, byte[] prefix, byte[] from, Visitor visitor);

  /** The row with the greatest key. */
  Optional<Row> last(Family family);

  /** The row with the least key that is {@code key} or greater. */
  Optional<Row> atLeast(Family family, byte[] key);

  Write newWrite();

  /**
   * Makes a write durable, if this is still the one writer and the log still ends where the caller
   * believes.
   *
   * @param write one of {@link #newWrite}; it is not used again
   * @param size how many rows {@link Family#LOG} has before it
   * @param newSize how many it has with it
   * @throws dev.writ.canonicalize.WritException {@code LED-074} where another writer has taken the
   *     log over or it has another size, and nothing is written then; anything else leaves open
   *     whether it was written, until the log is opened again
   */
  void write(Write write, long size, long newSize);

  /** Counts the openings by writers; empty for a reader, and where nobody counts them. */
  default Optional<Long> epoch() {
    return Optional.empty();
  }

  /** The lease under which a writer has it open, if it has one. */
  default Optional<Lease> lease() {
    return Optional.empty();
  }

  /** Called once a writer has written so much that it will go on; may prepare for it. */
  default void expectMuch() {}

  /**
   * Removes rows from files that are not in use but kept, such as logs that are written over later.
   * Called before {@link #forgetDeleted} and after it, while nothing is written.
   */
  default void forgetUnused() {}

  /** Rewrites what holds small contents, so that no deleted row can be read from the disk. */
  default void forgetDeleted() {}

  /** Reads everything and compares checksums, where there are any. */
  default void verifyChecksums() {}

  /** Lets a reader see what the writer has made durable since. */
  default void catchUp() {}

  @Override
  void close();

  /** Whether a key begins so. */
  static boolean startsWith(byte[] key, byte[] prefix) {
    return key.length >= prefix.length
        && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
  }
}
