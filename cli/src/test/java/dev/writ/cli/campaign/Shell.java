package dev.writ.cli.campaign;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Runs programs of the host and demands that they succeed. */
final class Shell {
  private Shell() {}

  /** What the program says, both streams together. */
  static String run(String... command) throws IOException, InterruptedException {
    return in(Path.of("/"), command);
  }

  static String in(Path directory, String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    int status = process.waitFor();
    if (status != 0) {
      throw new IOException(String.join(" ", command) + " ended with " + status + ": " + said);
    }
    return said;
  }

  /** Sends a signal, also to a process group where the id is negative. */
  static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, "--", Long.toString(pid))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }
}
