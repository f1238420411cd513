package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The verifier that is written from the specification alone. */
final class SecondVerifier {
  private static final Path SCRIPT =
      Path.of(System.getProperty("writ.root", ".."))
          .resolve("verify/src/main/resources/dev/writ/verify/bundle/verify.mjs");

  private SecondVerifier() {}

  /**
   * Requires that it finds nothing wrong with a bundle under these pins.
   *
   * @param more options
   */
  static void verified(String bundle, String trust, String... more) throws IOException {
    List<String> line = new ArrayList<>(List.of("node", SCRIPT.toString(), bundle));
    line.addAll(List.of("--trust", trust));
    line.addAll(List.of(more));
    Process node = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(node.onExit().join().exitValue()).as(said).isZero();
  }
}
