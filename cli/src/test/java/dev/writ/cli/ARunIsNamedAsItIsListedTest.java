package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code writ runs} writes is what the commands about evidence take. */
class ARunIsNamedAsItIsListedTest {
  @TempDir Path dir;

  @Test
  void itsTenantMayStandBeforeIt() {
    String home = dir.resolve("data").toString();
    assertThat(Run.of("--home", home, "demo").status()).isZero();
    String listed =
        Run.of("--home", home, "runs")
            .out()
            .lines()
            .map(line -> line.split(" ", 2)[0])
            .filter(name -> name.endsWith("/demo"))
            .findFirst()
            .orElseThrow();

    Path bundle = dir.resolve("b.writ");
    assertThat(Run.of("--home", home, "export", listed, "-o", bundle.toString()).status()).isZero();
    assertThat(bundle).exists();
    assertThat(Run.of("--home", home, "verify", listed).out()).contains("verified");
    assertThat(Run.of("--home", home, "diff", listed, bundle.toString()).status()).isZero();

    Run unknown = Run.of("--home", home, "verify", "other/demo");
    assertThat(unknown.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(unknown.err()).contains("CLI-002", "the data directory has no run of that name");
    Path none = dir.resolve("none.writ");
    Run elsewhere = Run.of("--home", home, "export", "other/demo", "-o", none.toString());
    assertThat(elsewhere.err()).contains("RPL-050");
    assertThat(Files.exists(none)).isFalse();
  }
}
