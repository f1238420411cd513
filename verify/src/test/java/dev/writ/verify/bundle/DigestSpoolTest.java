package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestSpoolTest {
  /** With lists of one, of several pieces, with a rest and without one, and with no file at all. */
  @ParameterizedTest
  @ValueSource(ints = {1, 7, 500, 512, 100_000})
  void givesBackEachOnceInTheirOrder(int most) {
    long seed = Long.getLong("writ.seed", 20261128);
    Random random = new Random(seed);
    TreeSet<Digest> tree = new TreeSet<>();
    try (DigestSpool spool = new DigestSpool(most)) {
      for (int i = 0; i < 4_096; i++) {
        byte[] bytes = new byte[Digest.LENGTH];
        // Few bits, so that many come again, in the same list and in others.
        bytes[0] = (byte) random.nextInt(64);
        bytes[Digest.LENGTH - 1] = (byte) random.nextInt(64);
        spool.add(Digest.ofBytes(bytes));
        tree.add(Digest.ofBytes(bytes));
      }
      assertThat(spool.size()).as("-Dwrit.seed=" + seed).isEqualTo(tree.size());
      List<Digest> found = new ArrayList<>();
      spool.forEach(found::add);
      assertThat(found).containsExactlyElementsOf(tree);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void alsoOfFew(int count) {
    try (DigestSpool spool = new DigestSpool(2)) {
      for (int i = 0; i < count; i++) {
        spool.add(Digest.sha256(new byte[] {(byte) i}));
      }
      assertThat(spool.size()).isEqualTo(count);
      List<Digest> found = new ArrayList<>();
      spool.forEach(found::add);
      assertThat(found).hasSize(count).isSorted();
    }
  }
}
