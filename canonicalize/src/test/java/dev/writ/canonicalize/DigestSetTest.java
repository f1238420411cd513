package dev.writ.canonicalize;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class DigestSetTest {
  private static Digest of(int first, int last) {
    byte[] bytes = new byte[Digest.LENGTH];
    bytes[0] = (byte) first;
    bytes[Digest.LENGTH - 1] = (byte) last;
    return Digest.ofBytes(bytes);
  }

  @Test
  void holdsWhatATreeHoldsAndInItsOrder() {
    long seed = Long.getLong("writ.seed", 20261122);
    Random random = new Random(seed);
    DigestSet set = new DigestSet();
    TreeSet<Digest> tree = new TreeSet<>();
    for (int i = 0; i < 5_000; i++) {
      // Few bits, so that many are there twice, are alike, or are all zero.
      Digest digest = of(random.nextInt(64) * 4, random.nextInt(64) * 4);
      assertThat(set.contains(digest)).as("-Dwrit.seed=" + seed).isEqualTo(tree.contains(digest));
      assertThat(set.add(digest)).isEqualTo(tree.add(digest));
      assertThat(set.size()).isEqualTo(tree.size());
    }
    assertThat(set.contains(of(0, 0))).isTrue();
    List<Digest> sorted = new ArrayList<>();
    set.drainSorted(sorted::add);
    assertThat(sorted).containsExactlyElementsOf(tree);
  }

  /** All zero is what a free place holds, so it is told apart from one. */
  @Test
  void theDigestOfZerosIsOneLikeAnyOther() {
    DigestSet set = new DigestSet();
    assertThat(set.add(of(0, 0))).isTrue();
    assertThat(set.add(of(0, 0))).isFalse();
    assertThat(set.add(of(1, 0))).isTrue();
    assertThat(set.size()).isEqualTo(2);
    List<Digest> sorted = new ArrayList<>();
    set.drainSorted(sorted::add);
    assertThat(sorted).containsExactly(of(0, 0), of(1, 0));
  }

  /** Who makes digests up can have all of them in one place of the table. */
  @Test
  void thoseThatWereMadeUpToHaveOnePlaceAreHeldLikeOthers() {
    DigestSet set = new DigestSet();
    TreeSet<Digest> tree = new TreeSet<>();
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[Digest.LENGTH];
      ByteBuffer.wrap(bytes).putLong(i).putLong(i);
      Digest digest = Digest.ofBytes(bytes);
      assertThat(set.contains(digest)).isFalse();
      assertThat(set.add(digest)).isEqualTo(tree.add(digest));
      assertThat(set.add(digest)).isFalse();
    }
    assertThat(tree).allMatch(set::contains);
    List<Digest> sorted = new ArrayList<>();
    set.drainSorted(sorted::add);
    assertThat(sorted).containsExactlyElementsOf(tree);
  }

  @Test
  void anEmptyOneHasNothing() {
    DigestSet set = new DigestSet();
    assertThat(set.contains(of(0, 0))).isFalse();
    set.drainSorted(digest -> {
      throw new AssertionError(digest);
    });
  }
}
