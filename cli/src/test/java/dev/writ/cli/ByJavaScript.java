package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The second verifier, {@code verify.mjs}, under Node. */
final class ByJavaScript {
  private static final Path SCRIPT =
      Path.of(System.getProperty("writ.root"))
          .resolve("verify/src/main/resources/dev/writ/verify/bundle/verify.mjs");

  private ByJavaScript() {}

  /** Requires that a bundle verifies there under a trust file. */
  static void holds(Path bundle, Path trust) throws Exception {
    Process node =
        new ProcessBuilder(
                "node", SCRIPT.toString(), bundle.toString(), "--trust", trust.toString())
            .redirectErrorStream(true)
            .start();
    node.getOutputStream().close();
    String said = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(node.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(node.exitValue()).as(said).isZero();
  }
}
