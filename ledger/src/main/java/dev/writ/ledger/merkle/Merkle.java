package dev.writ.ledger.merkle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.util.ArrayList;
import java.util.List;

/** The Merkle tree of RFC 6962 and RFC 9162, over SHA-256, as pure functions. */
public final class Merkle {
  /** The root of a tree without leaves: the hash of nothing. */
  public static final Digest EMPTY_ROOT = Digest.sha256();

  private static final byte[] LEAF = {0};
  private static final byte[] NODE = {1};

  private Merkle() {}

  /** The hash of a leaf: its own prefix, so that no entry can pass for an inner node. */
  public static Digest leafHash(byte[] entry) {
    return Digest.sha256(LEAF, entry);
  }

  public static Digest nodeHash(Digest left, Digest right) {
    return Digest.sha256(NODE, left.bytes(), right.bytes());
  }

  /** The root over leaf hashes (RFC 9162, 2.1.1). */
  public static Digest root(List<Digest> leafHashes) {
    Frontier frontier = Frontier.empty();
    leafHashes.forEach(frontier::append);
    return frontier.root();
  }

  /** The root of the first {@code size} leaves of a stored tree. */
  public static Digest root(NodeSource nodes, long size) {
    return size == 0 ? EMPTY_ROOT : range(nodes, 0, size);
  }

  /**
   * PATH(index, D[0:size]) of RFC 9162, 2.1.3.1, in a number of reads that is logarithmic in size.
   *
   * @throws WritException {@code LED-040} unless 0 ≤ index &lt; size
   */
  public static MerkleProof inclusionProof(NodeSource nodes, long index, long size) {
    if (index < 0 || index >= size) {
      throw new WritException(LedgerError.INDEX_RANGE, "index " + index + " of " + size);
    }
    List<Digest> hashes = new ArrayList<>();
    long start = 0;
    long end = size;
    while (end - start > 1) {
      long middle = start + split(end - start);
      if (index < middle) {
        hashes.add(range(nodes, middle, end));
        end = middle;
      } else {
        hashes.add(range(nodes, start, middle));
        start = middle;
      }
    }
    return new MerkleProof(hashes.reversed());
  }

  /**
   * PROOF(size1, D[0:size2]) of RFC 9162, 2.1.4.1; empty where size1 is 0 or equals size2.
   *
   * @throws WritException {@code LED-040} unless 0 ≤ size1 ≤ size2
   */
  public static MerkleProof consistencyProof(NodeSource nodes, long size1, long size2) {
    if (size1 < 0 || size1 > size2) {
      throw new WritException(LedgerError.INDEX_RANGE, "sizes " + size1 + " and " + size2);
    }
    if (size1 == 0 || size1 == size2) {
      return new MerkleProof(List.of());
    }
    List<Digest> hashes = new ArrayList<>();
    long start = 0;
    long end = size2;
    while (end != size1) {
      long middle = start + split(end - start);
      if (size1 <= middle) {
        hashes.add(range(nodes, middle, end));
        end = middle;
      } else {
        hashes.add(range(nodes, start, middle));
        start = middle;
      }
    }
    if (start > 0) {
      // Otherwise the subtree is the old tree itself, whose root the verifier has.
      hashes.add(range(nodes, start, end));
    }
    return new MerkleProof(hashes.reversed());
  }

  /**
   * Verifies that a leaf is at a position of the tree that has this root (RFC 9162, 2.1.3.2).
   *
   * @throws WritException {@code LED-040} for a position outside the tree, {@code LED-041} for a
   *     proof of the wrong length, {@code LED-042} where it leads to another root
   */
  public static void verifyInclusion(
      Digest leafHash, long index, long size, MerkleProof proof, Digest root) {
    if (index < 0 || index >= size) {
      throw new WritException(LedgerError.INDEX_RANGE, "index " + index + " of " + size);
    }
    long fn = index;
    long sn = size - 1;
    Digest hash = leafHash;
    for (Digest sibling : proof.hashes()) {
      if (sn == 0) {
        throw length(proof, "too long");
      }
      if ((fn & 1) == 1 || fn == sn) {
        hash = nodeHash(sibling, hash);
        int zeros = (fn & 1) == 1 ? 0 : Long.numberOfTrailingZeros(fn);
        // fn is 0 only where sn is too, which was refused: the shift is within a long.
        fn >>= zeros;
        sn >>= zeros;
      } else {
        hash = nodeHash(hash, sibling);
      }
      fn >>= 1;
      sn >>= 1;
    }
    if (sn != 0) {
      throw length(proof, "too short");
    }
    requireRoot(hash, root, size);
  }

  /**
   * Verifies that the tree of {@code size2} continues the tree of {@code size1} (RFC 9162,
   * 2.1.4.2). From an empty tree, and from a tree to itself, only the empty proof is right.
   *
   * @throws WritException {@code LED-040} unless 0 ≤ size1 ≤ size2, {@code LED-041} for a proof of
   *     the wrong length, {@code LED-042} where it leads to another root
   */
  public static void verifyConsistency(
      long size1, Digest root1, long size2, Digest root2, MerkleProof proof) {
    if (size1 < 0 || size1 > size2) {
      throw new WritException(LedgerError.INDEX_RANGE, "sizes " + size1 + " and " + size2);
    }
    if (size1 == 0 || size1 == size2) {
      if (!proof.hashes().isEmpty()) {
        throw length(proof, "not empty");
      }
      requireRoot(size1 == 0 ? EMPTY_ROOT : root2, root1, size1);
      return;
    }
    List<Digest> path = new ArrayList<>(proof.hashes());
    if (path.isEmpty()) {
      throw length(proof, "empty");
    }
    if (Long.bitCount(size1) == 1) {
      path.addFirst(root1);
    }
    int ones = Long.numberOfTrailingZeros(size1);
    long fn = size1 - 1 >> ones;
    long sn = size2 - 1 >> ones;
    Digest hash1 = path.getFirst();
    Digest hash2 = path.getFirst();
    for (Digest node : path.subList(1, path.size())) {
      if (sn == 0) {
        throw length(proof, "too long");
      }
      if ((fn & 1) == 1 || fn == sn) {
        hash1 = nodeHash(node, hash1);
        hash2 = nodeHash(node, hash2);
        int zeros = (fn & 1) == 1 ? 0 : Long.numberOfTrailingZeros(fn);
        fn >>= zeros;
        sn >>= zeros;
      } else {
        hash2 = nodeHash(hash2, node);
      }
      fn >>= 1;
      sn >>= 1;
    }
    if (sn != 0) {
      throw length(proof, "too short");
    }
    requireRoot(hash1, root1, size1);
    requireRoot(hash2, root2, size2);
  }

  /**
   * How many hashes a proof of consistency between two sizes has, which follows from them alone.
   *
   * @param size1 at most size2
   */
  public static int consistencyHashes(long size1, long size2) {
    if (size1 == 0 || size1 == size2) {
      return 0;
    }
    long fn = size1 - 1 >> Long.numberOfTrailingZeros(size1);
    long sn = size2 - 1 >> Long.numberOfTrailingZeros(size1);
    int hashes = Long.bitCount(size1) == 1 ? 0 : 1;
    while (sn != 0) {
      if ((fn & 1) == 1 || fn == sn) {
        int zeros = (fn & 1) == 1 ? 0 : Long.numberOfTrailingZeros(fn);
        fn >>= zeros;
        sn >>= zeros;
      }
      hashes++;
      fn >>= 1;
      sn >>= 1;
    }
    return hashes;
  }

  private static void requireRoot(Digest calculated, Digest claimed, long size) {
    if (!calculated.equals(claimed)) {
      throw new WritException(
          LedgerError.PROOF_ROOT,
          "at size "
              + size
              + " calculated root "
              + calculated
              + ", but "
              + claimed
              + " is claimed");
    }
  }

  private static WritException length(MerkleProof proof, String what) {
    return new WritException(
        LedgerError.PROOF_LENGTH, proof.hashes().size() + " hashes are " + what);
  }

  /** The largest power of two that is smaller than n, for n of at least 2. */
  private static long split(long n) {
    return Long.highestOneBit(n - 1);
  }

  /**
   * The hash over leaves start to end − 1, where start is a multiple of a power of two ≥ length.
   */
  private static Digest range(NodeSource nodes, long start, long end) {
    long length = end - start;
    if (Long.bitCount(length) == 1) {
      int level = Long.numberOfTrailingZeros(length);
      return nodes.node(level, start >> level);
    }
    long middle = start + split(length);
    return nodeHash(range(nodes, start, middle), range(nodes, middle, end));
  }
}
