package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is said to be not verified, of bundles that lack something for each reason: the first
 * verifier says it here, and the second one the same lines, as {@link SecondOpinion} holds of every
 * bundle that both verify.
 */
class BothVerifiersLeaveTheSameUnverifiedTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String DROPPED =
      "1 outputs: not kept, as the request asked; only their digests";
  private static final String IN_ARCHIVE =
      "1 bundles of archived runs: that the archive still has them, `writ archive verify` says";

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path opinions) {
    OPINION.compare(opinions);
  }

  private static List<String> notVerified(byte[] bundle) {
    OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
    return OPINION.pinned(bundle).notVerified();
  }

  @Test
  void an_output_that_was_dropped(@TempDir Path dir) {
    assertThat(notVerified(GoneContents.deletedAndErased(dir)))
        .contains(DROPPED)
        .doesNotContain(IN_ARCHIVE);
  }

  @Test
  void what_the_archive_is_said_to_have(@TempDir Path dir) {
    assertThat(notVerified(GoneContents.archived(dir))).contains(DROPPED, IN_ARCHIVE);
  }

  @Test
  void what_was_left_out_of_an_open_run_and_of_a_closed_one(@TempDir Path dir) {
    try (TestHome home = Sample.home(dir)) {
      Sample.fill(home);
      home.kernel().checkpoint();
      assertThat(notVerified(without(home)))
          .anyMatch(line -> line.startsWith("the end of the run: it is open"))
          .contains("tool manifests and packages: left out")
          .anyMatch(line ->
              line.endsWith(" blobs: left out; their digests are signed, they are not here"));
      Sample.close(home, "run-1");
      assertThat(notVerified(without(home))).noneMatch(line -> line.contains("it is open"));
      assertThat(notVerified(Sample.export(home)))
          .contains(DROPPED)
          .noneMatch(line -> line.contains(": left out"));
    }
  }

  private static byte[] without(TestHome home) {
    return BundleExport.of(
        home.ledger(),
        Sample.RUN,
        Sample.packages(home),
        new BundleExport.Options(false, false, Optional.empty()));
  }

  @Test
  void nothing_more_of_a_whole_run(@TempDir Path dir) {
    assertThat(notVerified(Sample.small(dir)))
        .noneMatch(line -> line.matches("\\d+ (outputs|bundles|blobs|contents): .*"));
  }
}
