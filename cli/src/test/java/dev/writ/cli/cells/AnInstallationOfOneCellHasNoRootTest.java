package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.Run;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever asks for the root of one log alone is told what there is instead. */
class AnInstallationOfOneCellHasNoRootTest {
  @TempDir Path dir;

  @Test
  void and_says_so() {
    String home = dir.resolve("home").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    Run prove = Run.of("--home", home, "cells", "prove");
    assertThat(prove.status()).isEqualTo(6);
    assertThat(prove.out()).isEmpty();
    assertThat(prove.err())
        .startsWith("writ: CLI-110 ")
        .contains("this installation has one cell: its own checkpoint covers all of it");
  }
}
