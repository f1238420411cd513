package dev.writ.cli.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Runs programs of the host to their end. */
final class Processes {
  private Processes() {}

  /**
   * @throws IOException with what the program wrote, unless it ends with 0
   */
  static void requireSuccess(ProcessBuilder program) throws IOException {
    Process process = program.redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException(program.command().getFirst() + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
