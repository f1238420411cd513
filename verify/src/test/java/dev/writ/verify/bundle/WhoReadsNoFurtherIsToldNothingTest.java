package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.verify.testing.Node;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The second verifier into a pipe that nobody reads: no trace, and the same verdict. */
class WhoReadsNoFurtherIsToldNothingTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "--json"})
  void theVerdictIsTheExitCode(String option, @TempDir Path dir) throws Exception {
    Path bundle = Files.write(dir.resolve("run.writ"), Sample.small(dir.resolve("home")));
    List<String> whole = arguments(bundle, option);
    assertThat(Node.run(whole).exit()).isEqualTo(5);
    assertThat(closed(whole, dir)).isEqualTo("5 ");
    Files.write(bundle, new byte[] {1});
    assertThat(closed(arguments(bundle, option), dir)).startsWith("4 ");
  }

  private static List<String> arguments(Path bundle, String option) {
    return option.isEmpty()
        ? List.of(Node.VERIFIER.toString(), bundle.toString())
        : List.of(Node.VERIFIER.toString(), bundle.toString(), option);
  }

  /** Exit code and standard error, where the reader is gone before anything is written. */
  private static String closed(List<String> arguments, Path dir)
      throws IOException, InterruptedException {
    Path errors = dir.resolve("errors");
    ProcessBuilder builder = new ProcessBuilder(Node.command(arguments));
    Process process = builder.redirectError(errors.toFile()).start();
    process.getInputStream().close();
    return process.waitFor() + " " + Files.readString(errors, StandardCharsets.UTF_8);
  }
}
