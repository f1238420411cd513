package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.verify.bundle.BundleVerifier;
import org.junit.jupiter.api.Test;

/** The forger of the fuzzer and of vectors changes what he is told to change, and nothing else. */
class AWholeBundleIsForgedTest {
  @Test
  void whatIsNotChangedVerifiesWhenItIsMadeAgain() {
    FullRun run = FullRun.made();
    for (byte[] bundle : new byte[][] {run.open, run.closed, run.latest}) {
      BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
      byte[] again = FullRun.remade(bundle).toBytes();
      var seen = BundleVerifier.verify(again, BundleVerifier.Options.UNPINNED, _ -> {});
      assertThat(seen.verified()).hasSizeGreaterThan(8);
      assertThat(seen.notVerified()).noneMatch(line -> line.contains("not judged again"));
    }
  }
}
