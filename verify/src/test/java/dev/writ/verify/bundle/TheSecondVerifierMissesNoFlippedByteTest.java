package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.verify.testing.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The scheme of {@link NoByteOfABundleIsWithoutMeaningTest}, put to the JavaScript verifier: every
 * {@link #STEP}th byte, all with {@code -Dwrit.exhaustive=true}. Both refuse all, so they agree.
 */
class TheSecondVerifierMissesNoFlippedByteTest {
  private static final int STEP = Boolean.getBoolean("writ.exhaustive") ? 1 : 83;

  @Test
  void inTheFileAndInEveryEntryThoughChecksumsFit(@TempDir Path dir) throws IOException {
    byte[] small = Sample.small(dir.resolve("home"));
    Path file = Files.write(dir.resolve("small.writ"), small);
    Node.Result result =
        Node.run(
            List.of(
                Node.script("mutations.mjs").toString(),
                Node.VERIFIER.toString(),
                file.toString(),
                String.valueOf(STEP)));
    System.out.println(result.out().strip());
    assertThat(result.exit()).as(result.out()).isZero();
    assertThat(result.out()).contains("\"passed\":[]");
  }
}
