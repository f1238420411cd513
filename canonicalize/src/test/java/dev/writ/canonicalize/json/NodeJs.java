package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Assumptions;

/** The canonicalizer in {@code jcs.mjs}, run by {@code node} from the PATH. */
final class NodeJs implements AutoCloseable {
  private final Process process;
  private final Path script;

  /** Without node: a failure where CI=true, otherwise the test says that it did not run. */
  NodeJs() throws IOException {
    script = Files.createTempFile("jcs", ".mjs");
    try (InputStream source = NodeJs.class.getResourceAsStream("jcs.mjs")) {
      Files.write(script, source.readAllBytes());
    }
    process = start(script.toString());
  }

  /** Runs a script to its end. */
  static void run(String... arguments) throws IOException, InterruptedException {
    Process process = start(arguments);
    process.getInputStream().readAllBytes();
    assertThat(process.waitFor()).as("exit code of %s", arguments[0]).isZero();
  }

  private static Process start(String... arguments) {
    List<String> command = new ArrayList<>(List.of("node"));
    command.addAll(List.of(arguments));
    try {
      return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException e) {
      String message = "node is not on the PATH: the comparison with ECMAScript was not run";
      if ("true".equals(System.getenv("CI"))) {
        throw new AssertionError(message, e);
      }
      Assumptions.abort(message);
      throw new AssertionError("abort returned", e);
    }
  }

  static String document(byte[] json) {
    return "d" + Base64.getEncoder().encodeToString(json);
  }

  static String number(double value) {
    return "n" + HexFormat.of().toHexDigits(Double.doubleToRawLongBits(value));
  }

  /** The answers to many questions, in their order. */
  List<String> ask(List<String> questions) throws IOException {
    List<String> answers = new ArrayList<>(questions.size());
    Thread writer = Thread.ofVirtual().start(() -> send(questions));
    try (BufferedReader in = process.inputReader(StandardCharsets.US_ASCII)) {
      in.lines().forEach((Consumer<String>) answers::add);
      writer.join();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    assertThat(answers).as("node's answers").hasSameSizeAs(questions);
    return answers;
  }

  private void send(List<String> questions) {
    try (OutputStream out = process.getOutputStream()) {
      for (String question : questions) {
        out.write((question + "\n").getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    Files.delete(script);
  }
}
