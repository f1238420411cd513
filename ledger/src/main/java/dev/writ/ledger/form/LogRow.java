package dev.writ.ledger.form;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.NodeSource;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The rows of the log (spec/storage.md, Nodes): nodes of the tree that the leaf at this position
 * completes, then the key of its event. From one position on a row has the greatest of them alone;
 * rows before that have all.
 */
public final class LogRow {
  private LogRow() {}

  /** The row {@link MetaRow#ONE_NODE_FROM}; {@link Long#MAX_VALUE} where it is absent. */
  public static long oneNodeFrom(Storage store) {
    return store
        .get(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key())
        .map(Keys::number)
        .orElse(Long.MAX_VALUE);
  }

  /** The row for a leaf that completes these nodes, where rows have one. */
  public static byte[] of(List<Digest> nodes, byte[] eventKey) {
    return ByteBuffer.allocate(Digest.LENGTH + eventKey.length)
        .put(nodes.getLast().bytes())
        .put(eventKey)
        .array();
  }

  /** The level of the greatest subtree that ends at this position. */
  static int top(long index) {
    return Long.numberOfTrailingZeros(index + 1);
  }

  /** Bytes of nodes in the row at this position. */
  public static int nodesLength(long index, long oneNodeFrom) {
    return Digest.LENGTH * (index >= oneNodeFrom ? 1 : 1 + top(index));
  }

  /** The key of the event at this position. */
  public static byte[] eventKey(long index, long oneNodeFrom, byte[] row) {
    requireNodes(index, oneNodeFrom, row);
    return Arrays.copyOfRange(row, nodesLength(index, oneNodeFrom), row.length);
  }

  private static void requireNodes(long index, long oneNodeFrom, byte[] row) {
    if (row.length < nodesLength(index, oneNodeFrom)) {
      throw new WritException(
          LedgerError.CORRUPT, "log row " + index + " has " + row.length + " bytes");
    }
  }

  public static byte[] read(Storage store, long index, long oneNodeFrom) {
    byte[] row =
        store
            .get(Family.LOG, Keys.number(index))
            .orElseThrow(
                () -> new WritException(LedgerError.CORRUPT, "log row " + index + " is missing"));
    requireNodes(index, oneNodeFrom, row);
    return row;
  }

  /**
   * Reads nodes from the rows of the leaves that completed them. One that its row leaves out is
   * calculated from the event there and from what is left of it: a read for each level.
   */
  public static NodeSource nodes(Storage store, long oneNodeFrom) {
    return (level, index) -> {
      long leaf = (index + 1 << level) - 1;
      byte[] row = read(store, leaf, oneNodeFrom);
      if (leaf < oneNodeFrom) {
        return node(row, level);
      }
      if (level == top(leaf)) {
        return node(row, 0);
      }
      return calculated(store, oneNodeFrom, level, leaf, row);
    };
  }

  private static Digest calculated(
      Storage store, long oneNodeFrom, int level, long leaf, byte[] row) {
    byte[] key = eventKey(leaf, oneNodeFrom, row);
    byte[] event =
        store
            .get(Family.EVENTS, key)
            .orElseThrow(() -> new WritException(LedgerError.CORRUPT, "an event's row is missing"));
    Digest hash = Merkle.leafHash(StoredForm.eventBytes(key, event));
    for (int below = 0; below < level; below++) {
      // The left half of a subtree is the greatest one that its last leaf completes.
      long left = leaf - (1L << below);
      byte[] leftRow = read(store, left, oneNodeFrom);
      hash = Merkle.nodeHash(node(leftRow, left < oneNodeFrom ? below : 0), hash);
    }
    return hash;
  }

  /** The node of this number in the row. */
  public static Digest node(byte[] row, int number) {
    int at = number * Digest.LENGTH;
    return Digest.ofBytes(Arrays.copyOfRange(row, at, at + Digest.LENGTH));
  }
}
