package dev.writ.ledger.merkle;

import dev.writ.canonicalize.Digest;
import java.util.List;

/** A source of hashes of complete subtrees. */
@FunctionalInterface
public interface NodeSource {
  /**
   * The hash of the complete subtree over the leaves {@code index << level} up to, and without,
   * {@code (index + 1) << level}.
   */
  Digest node(int level, long index);

  /** Computes nodes from all leaf hashes; for small trees and for tests. */
  static NodeSource ofLeaves(List<Digest> leafHashes) {
    return new NodeSource() {
      @Override
      public Digest node(int level, long index) {
        return level == 0
            ? leafHashes.get(Math.toIntExact(index))
            : Merkle.nodeHash(node(level - 1, 2 * index), node(level - 1, 2 * index + 1));
      }
    };
  }
}
