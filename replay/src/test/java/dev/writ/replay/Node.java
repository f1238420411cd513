package dev.writ.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Runs {@code node} from the PATH. */
final class Node {
  /** The verifier that is shipped, as a file. */
  static final Path VERIFIER = Path.of("src/main/resources/dev/writ/replay/verify.mjs");

  private static final Path TESTS = Path.of("src/test/js");

  record Result(int exit, String out) {}

  private Node() {}

  /** Runs a script of the tests to its end; it must succeed. */
  static Result test(String script, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--test", "--test-reporter=spec"));
    all.add(TESTS.resolve(script).toString());
    all.addAll(List.of(arguments));
    Result result = run(all);
    assertThat(result.exit()).as(result.out()).isZero();
    return result;
  }

  static Path script(String name) {
    return TESTS.resolve(name);
  }

  /** Without node: a failure where CI=true, otherwise the test says that it did not run. */
  static Result run(List<String> arguments) {
    List<String> command = new ArrayList<>(List.of("node"));
    command.addAll(arguments);
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), out);
    } catch (IOException e) {
      String message = "node is not on the PATH: the second verifier was not run";
      if ("true".equals(System.getenv("CI"))) {
        throw new UncheckedIOException(message, e);
      }
      Assumptions.abort(message);
      throw new AssertionError("abort returned", e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
