package dev.writ.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The MCP server unconfined, spoken to directly: what a client of it does without Writ. */
final class BareServer implements AutoCloseable {
  private final Process process;
  private final OutputStream in;
  private final BufferedReader out;
  private long last;

  /** Starts it, shakes hands and lists its tools. */
  BareServer(Path script) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(McpLab.PYTHON, script.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD);
      builder.environment().clear();
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    in = process.getOutputStream();
    out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    ask("initialize", McpLab.INITIALIZE, "serverInfo");
    ask("tools/list", "{}", "inputSchema");
  }

  /** Calls its tool. */
  void call() {
    ask("tools/call", McpLab.CALL, McpLab.TEXT);
  }

  private void ask(String method, String params, String expected) {
    try {
      in.write(
          McpLab.request(++last, method, params).concat("\n").getBytes(StandardCharsets.UTF_8));
      in.flush();
      String answer = out.readLine();
      if (answer == null || !answer.contains(expected)) {
        throw new IllegalStateException("the bare server answered " + answer);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
