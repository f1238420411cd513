package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.verify.testing.Node;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The heap of who verifies does not grow with the bundle: 6 events an effect, 9 KB. With {@code
 * -Dwrit.effects=166667} it is a million events in 1.4 GiB, which need no more than 256 MiB.
 */
class VerificationIsFlatInMemoryTest {
  private static final int EFFECTS = Integer.getInteger("writ.effects", 600);
  private static final int INTEGRITY_ONLY = 5;
  private static final String HEAP = EFFECTS > 5_000 ? "-Xmx256m" : "-Xmx32m";

  @TempDir static Path dir;

  private static Path bundle;

  @BeforeAll
  static void writeOnce() throws Exception {
    bundle = dir.resolve("long.writ");
    LongRun.write(dir.resolve("home"), EFFECTS, bundle);
  }

  /**
   * The second verifier keeps offsets, and of an effect that has its end a few ids. The heap is
   * what the program and its parsed code need; one that kept events and documents ended here.
   */
  @Test
  void inNodeWithASmallHeap() throws Exception {
    Path verifier = dir.resolve("verify.mjs");
    Files.write(verifier, SecondVerifier.source());
    Node.Result result =
        Node.run(
            List.of(
                "--max-old-space-size=" + (EFFECTS > 5_000 ? 128 : 11),
                "--max-semi-space-size=1",
                verifier.toString(),
                bundle.toString()));
    assertThat(result.exit()).as(result.out()).isEqualTo(INTEGRITY_ONLY);
    assertThat(result.out()).contains(EFFECTS + " receipts: each names what it follows from");
  }

  @Test
  void inAProcessWithASmallHeap() throws Exception {
    assertThat(Files.size(bundle)).isGreaterThan(EFFECTS * 8_000L);
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    HEAP,
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-cp",
                    System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")),
                    VerifyFile.class.getName(),
                    bundle.toString()))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).contains(EFFECTS + " decisions: judged again to the same bytes");
  }
}
