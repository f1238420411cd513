package dev.writ.ledger.merkle;

import dev.writ.canonicalize.Digest;
import java.util.ArrayList;
import java.util.List;

/**
 * The right edge of a growing tree: the hashes of its largest complete subtrees, one for each bit
 * set in its size, largest first. They suffice to append leaves and to compute the root. Not thread
 * safe.
 */
public final class Frontier {
  private final ArrayList<Digest> subtrees;
  private long size;

  private Frontier(long size, List<Digest> subtrees) {
    this.size = size;
    this.subtrees = new ArrayList<>(subtrees);
  }

  public static Frontier empty() {
    return new Frontier(0, List.of());
  }

  /** The right edge of a tree whose nodes are stored: one read for each bit set in the size. */
  public static Frontier load(long size, NodeSource nodes) {
    List<Digest> subtrees = new ArrayList<>(Long.bitCount(size));
    for (int level = 62; level >= 0; level--) {
      if ((size >> level & 1) == 1) {
        // The subtree of this bit begins where those of the higher bits end.
        subtrees.add(nodes.node(level, (size >> level) - 1));
      }
    }
    return new Frontier(size, subtrees);
  }

  public Frontier copy() {
    return new Frontier(size, subtrees);
  }

  public long size() {
    return size;
  }

  /**
   * Appends a leaf.
   *
   * @return the nodes that it completes, levels 0 (the leaf itself) to n: n is the number of
   *     trailing zero bits of the new size
   */
  public List<Digest> append(Digest leafHash) {
    List<Digest> completed = new ArrayList<>(1 + Long.numberOfTrailingZeros(size + 1));
    Digest hash = leafHash;
    completed.add(hash);
    for (int level = 0; (size >> level & 1) == 1; level++) {
      hash = Merkle.nodeHash(subtrees.removeLast(), hash);
      completed.add(hash);
    }
    subtrees.add(hash);
    size++;
    return completed;
  }

  /** Appends a leaf that is not known, by the greatest subtree that it completes. */
  public void appendUnknown(Digest greatest) {
    for (int level = 0; (size >> level & 1) == 1; level++) {
      subtrees.removeLast();
    }
    subtrees.add(greatest);
    size++;
  }

  /** The root hash (RFC 9162, 2.1.1). */
  public Digest root() {
    if (size == 0) {
      return Merkle.EMPTY_ROOT;
    }
    Digest hash = subtrees.getLast();
    for (int i = subtrees.size() - 2; i >= 0; i--) {
      hash = Merkle.nodeHash(subtrees.get(i), hash);
    }
    return hash;
  }
}
