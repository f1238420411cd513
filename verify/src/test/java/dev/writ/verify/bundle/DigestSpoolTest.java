package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
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

  /** Half a million digests have 16 MB; an export that kept them all ended here. */
  @Test
  void manyNeedNoMoreMemoryThanFew() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx14m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Many.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said.strip()).isEqualTo(String.valueOf(Many.COUNT));
  }

  /** Collects so many digests, in a process whose heap the test bounds, and says how many. */
  static final class Many {
    private static final int COUNT = 500_000;

    private Many() {}

    public static void main(String[] args) {
      long[] count = {0};
      try (DigestSpool spool = new DigestSpool()) {
        for (int i = 0; i < COUNT; i++) {
          spool.add(Digest.sha256(ByteBuffer.allocate(Integer.BYTES).putInt(i).array()));
        }
        spool.forEach(_ -> count[0]++);
      }
      System.out.println(count[0]);
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
