package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code writ mcp} as a process, and its client, who reads up to the answer of what it writes. */
final class McpProcess implements AutoCloseable {
  final Process process;
  final BufferedReader out;
  private final Path log;
  private boolean killed;

  /**
   * @param log gets what it says beside the protocol
   * @param more words of the command
   */
  McpProcess(String home, Path log, String... more) throws IOException {
    this.log = log;
    List<String> command = OwnProcess.writ("--home", home, "mcp");
    command.addAll(List.of(more));
    process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    out = process.inputReader(StandardCharsets.UTF_8);
  }

  void tells(String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  /** The messages before the answer, and the answer. */
  List<String> says(String line) throws IOException {
    tells(line);
    List<String> heard = new ArrayList<>();
    do {
      heard.add(out.readLine());
    } while (heard.getLast().contains("\"method\":"));
    return heard;
  }

  String answer(String line) throws IOException {
    return says(line).getLast();
  }

  /** Ends its input, and requires that it says nothing more and exits with 0. */
  void end() throws IOException {
    process.getOutputStream().close();
    assertThat(out.lines()).as("after the last answer").isEmpty();
    assertThat(process.onExit().join().exitValue()).as(Files.readString(log)).isZero();
  }

  void kill() {
    killed = true;
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() throws IOException {
    try {
      if (!killed) {
        end();
      }
    } finally {
      process.destroyForcibly();
    }
  }
}
