package dev.writ.verify.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;

/** Runs {@code node} from the PATH. */
public final class Node {
  /** The verifier that is shipped, as a file. */
  public static final Path VERIFIER =
      Path.of("../verify/src/main/resources/dev/writ/verify/bundle/verify.mjs");

  private static final Path TESTS = Path.of("src/test/js");

  public record Result(int exit, String out) {}

  private Node() {}

  /** Runs a script of the tests to its end; it must succeed, each of its tests within minutes. */
  public static Result test(String script, Map<String, String> environment) {
    Result result =
        run(
            List.of(
                "--test",
                "--test-reporter=spec",
                "--test-timeout=180000",
                script(script).toString()),
            new TreeMap<>(environment));
    assertThat(result.exit()).as(result.out()).isZero();
    return result;
  }

  public static Path script(String name) {
    return TESTS.resolve(name);
  }

  public static List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>(List.of("node"));
    command.addAll(arguments);
    return command;
  }

  public static Result run(List<String> arguments) {
    return run(arguments, new TreeMap<>());
  }

  /** Without node: a failure where CI=true, otherwise the test says that it did not run. */
  private static Result run(List<String> arguments, TreeMap<String, String> environment) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command(arguments)).redirectErrorStream(true);
      builder.environment().putAll(environment);
      Process process = builder.start();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), out);
    } catch (IOException e) {
      missing("node", e);
      throw new AssertionError("abort returned", e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Aborts the test where a browser is not there; with CI=true it fails. */
  public static void needsChromium() {
    try {
      Process process =
          new ProcessBuilder("chromium-headless-shell", "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      assertThat(process.waitFor()).isZero();
    } catch (IOException e) {
      missing("chromium-headless-shell", e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void missing(String command, IOException e) {
    String message = command + " is not on the PATH: what needs it was not run";
    if ("true".equals(System.getenv("CI"))) {
      throw new UncheckedIOException(message, e);
    }
    Assumptions.abort(message);
  }
}
