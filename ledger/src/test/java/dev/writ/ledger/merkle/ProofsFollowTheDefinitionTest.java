package dev.writ.ledger.merkle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Against the recursive definitions of RFC 9162, 2.1, written out naively. */
class ProofsFollowTheDefinitionTest {
  private static final int SIZE_MAX = 300;
  private static final long SEED = Long.getLong("writ.seed", 6962);

  private static final List<Digest> LEAVES =
      IntStream.range(0, SIZE_MAX + 1)
          .mapToObj(i -> Merkle.leafHash(("entry " + i).getBytes(StandardCharsets.UTF_8)))
          .toList();

  private static final Digest[][] KNOWN = new Digest[SIZE_MAX + 2][SIZE_MAX + 2];

  private static final NodeSource NODES = NodeSource.ofLeaves(LEAVES);

  private static int split(int n) {
    int k = 1;
    while (k * 2 < n) {
      k *= 2;
    }
    return k;
  }

  /** Of the leaves from {@code from} to before {@code to}; computed once. */
  private static Digest mth(int from, int to) {
    Digest[] known = KNOWN[from];
    if (known[to] == null) {
      known[to] = computed(from, to);
    }
    return known[to];
  }

  private static Digest computed(int from, int to) {
    if (from == to) {
      return Digest.sha256(new byte[0]);
    }
    if (to - from == 1) {
      return LEAVES.get(from);
    }
    int k = from + split(to - from);
    return Digest.sha256(new byte[] {1}, mth(from, k).bytes(), mth(k, to).bytes());
  }

  private static List<Digest> path(int m, int from, int to) {
    if (to - from == 1) {
      return new ArrayList<>();
    }
    int k = split(to - from);
    List<Digest> path;
    if (m < k) {
      path = path(m, from, from + k);
      path.add(mth(from + k, to));
    } else {
      path = path(m - k, from + k, to);
      path.add(mth(from, from + k));
    }
    return path;
  }

  private static List<Digest> subproof(int m, int from, int to, boolean whole) {
    List<Digest> proof;
    if (m == to - from) {
      proof = new ArrayList<>();
      if (!whole) {
        proof.add(mth(from, to));
      }
      return proof;
    }
    int k = split(to - from);
    if (m <= k) {
      proof = subproof(m, from, from + k, whole);
      proof.add(mth(from + k, to));
    } else {
      proof = subproof(m - k, from + k, to, false);
      proof.add(mth(from, from + k));
    }
    return proof;
  }

  @Test
  void roots_of_every_size() {
    Frontier frontier = Frontier.empty();
    for (int n = 0; n <= SIZE_MAX; n++) {
      Digest defined = mth(0, n);
      assertThat(frontier.root()).as("size %d", n).isEqualTo(defined);
      assertThat(Merkle.root(NODES, n)).isEqualTo(defined);
      assertThat(Merkle.root(LEAVES.subList(0, n))).isEqualTo(defined);
      assertThat(Frontier.load(n, NODES).root()).isEqualTo(defined);
      List<Digest> completed = frontier.append(LEAVES.get(n));
      assertThat(completed).hasSize(1 + Integer.numberOfTrailingZeros(n + 1));
      for (int level = 0; level < completed.size(); level++) {
        assertThat(completed.get(level)).isEqualTo(NODES.node(level, (n + 1 >> level) - 1));
      }
    }
  }

  @Test
  void proofs_are_those_of_the_definition_and_verify() {
    for (int n = 1; n <= SIZE_MAX; n += n < 36 ? 1 : 29) {
      Digest root = mth(0, n);
      for (int m = 0; m < n; m++) {
        MerkleProof inclusion = Merkle.inclusionProof(NODES, m, n);
        assertThat(inclusion.hashes()).as("%d of %d", m, n).isEqualTo(path(m, 0, n));
        Merkle.verifyInclusion(LEAVES.get(m), m, n, inclusion, root);
        MerkleProof consistency = Merkle.consistencyProof(NODES, m, n);
        if (m > 0) {
          assertThat(consistency.hashes()).isEqualTo(subproof(m, 0, n, true));
        }
        assertThat(consistency.hashes()).hasSize(Merkle.consistencyHashes(m, n));
        Merkle.verifyConsistency(m, mth(0, m), n, root, consistency);
      }
      assertThat(Merkle.consistencyHashes(n, n)).isZero();
    }
  }

  @Test
  void a_proof_that_was_changed_anywhere_is_refused() {
    System.out.println("writ.seed=" + SEED);
    Random random = new Random(SEED);
    for (int round = 0; round < 150; round++) {
      int n = 2 + random.nextInt(SIZE_MAX - 1);
      int m = random.nextInt(n);
      Digest root = Merkle.root(NODES, n);
      MerkleProof inclusion = Merkle.inclusionProof(NODES, m, n);
      for (MerkleProof changed : changes(inclusion, random)) {
        refused(() -> Merkle.verifyInclusion(LEAVES.get(m), m, n, changed, root));
      }
      int other = (m + 1 + random.nextInt(n - 1)) % n;
      refused(() -> Merkle.verifyInclusion(LEAVES.get(m), other, n, inclusion, root));
      refused(() -> Merkle.verifyInclusion(LEAVES.get(other), m, n, inclusion, root));
      refused(() -> Merkle.verifyInclusion(LEAVES.get(m), m, n, inclusion, LEAVES.get(0)));
      int older = 1 + random.nextInt(n - 1);
      Digest oldRoot = Merkle.root(NODES, older);
      MerkleProof consistency = Merkle.consistencyProof(NODES, older, n);
      for (MerkleProof changed : changes(consistency, random)) {
        refused(() -> Merkle.verifyConsistency(older, oldRoot, n, root, changed));
      }
      refused(() -> Merkle.verifyConsistency(older, root, n, root, consistency));
      refused(() -> Merkle.verifyConsistency(older, oldRoot, n, oldRoot, consistency));
      refused(() -> Merkle.verifyConsistency(n, root, older, oldRoot, consistency));
    }
  }

  /** Every hash flipped in one bit, dropped, or doubled; a hash before, behind; nothing at all. */
  private static List<MerkleProof> changes(MerkleProof proof, Random random) {
    List<MerkleProof> changes = new ArrayList<>();
    List<Digest> hashes = proof.hashes();
    for (int i = 0; i < hashes.size(); i++) {
      byte[] flipped = hashes.get(i).bytes();
      flipped[random.nextInt(32)] ^= (byte) (1 << random.nextInt(8));
      List<Digest> bit = new ArrayList<>(hashes);
      bit.set(i, Digest.ofBytes(flipped));
      changes.add(new MerkleProof(bit));
      List<Digest> dropped = new ArrayList<>(hashes);
      dropped.remove(i);
      changes.add(new MerkleProof(dropped));
      List<Digest> doubled = new ArrayList<>(hashes);
      doubled.add(i, hashes.get(i));
      changes.add(new MerkleProof(doubled));
    }
    List<Digest> before = new ArrayList<>(hashes);
    before.addFirst(LEAVES.get(0));
    changes.add(new MerkleProof(before));
    List<Digest> behind = new ArrayList<>(hashes);
    behind.add(LEAVES.get(0));
    changes.add(new MerkleProof(behind));
    return changes;
  }

  private static void refused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).matches("LED-04[012]"));
  }

  @Test
  void positions_outside_the_tree_are_refused() {
    for (long[] at : new long[][] {{-1, 5}, {5, 5}, {0, 0}, {6, 5}}) {
      refused(() -> Merkle.inclusionProof(NODES, at[0], at[1]));
      refused(() ->
          Merkle.verifyInclusion(
              LEAVES.get(0), at[0], at[1], new MerkleProof(List.of()), LEAVES.get(0)));
    }
    refused(() -> Merkle.consistencyProof(NODES, 6, 5));
    refused(() -> Merkle.consistencyProof(NODES, -1, 5));
    refused(() ->
        Merkle.verifyConsistency(
            -1, Merkle.EMPTY_ROOT, 5, LEAVES.get(0), new MerkleProof(List.of())));
  }

  @Test
  void a_proof_longer_than_any_tree_is_refused() {
    refused(() -> new MerkleProof(Collections.nCopies(65, LEAVES.get(0))));
  }

  @Test
  void proofs_read_a_logarithmic_number_of_nodes() {
    long size = (1L << 40) + (1L << 20) + 12_345;
    int[] reads = {0};
    NodeSource counting =
        (level, index) -> {
          reads[0]++;
          return LEAVES.get((int) ((level * 31L + index) % SIZE_MAX));
        };
    Merkle.inclusionProof(counting, 1L << 39, size);
    assertThat(reads[0]).isLessThan(100);
    reads[0] = 0;
    Merkle.consistencyProof(counting, (1L << 39) + 7, size);
    assertThat(reads[0]).isLessThan(150);
  }
}
