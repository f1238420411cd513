package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Where a user may not look, nothing is said of what is there. */
class AHomeOfAnotherUserIsNotCalledMissingTest {
  private static final long USER = 2_147_000_007L;

  @Test
  void theRefusalIsAboutTheUser() throws IOException {
    Path folder = Files.createTempDirectory(Path.of("/tmp"), "other");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
    Path home = folder.resolve("home");
    assertThat(Run.of("--home", home.toString(), "init").status()).isZero();
    try (UnprivilegedShell shell = new UnprivilegedShell(folder, USER)) {
      Run run = shell.run(Map.of(), "--home", home.toString(), "receipts");
      assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
      assertThat(run.err()).contains("CLI-002", "may not be entered").doesNotContain("CLI-010");
      Run none = shell.run(Map.of(), "--home", folder.resolve("none").toString(), "receipts");
      assertThat(none.err()).contains("CLI-010");
    } finally {
      Trees.remove(folder);
    }
  }
}
