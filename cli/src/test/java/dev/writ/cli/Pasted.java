package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A line as somebody pastes it into a shell. */
final class Pasted {
  private Pasted() {}

  /** What it says on both streams, in the given folder; a status other than 0 fails the test. */
  static String into(Path folder, String line) throws Exception {
    Process shell =
        new ProcessBuilder("bash", "-c", line)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(shell.waitFor()).as(line + "\n" + said).isZero();
    return said;
  }
}
