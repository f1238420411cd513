package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.verify.bundle.SecondVerifier;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AReportIsMadeOfABundleTest {
  @Test
  void forAReaderWhoNeedsNothingElse(@TempDir Path dir) throws Exception {
    String home = dir.resolve("data").toString();
    String bundle = dir.resolve("main.writ").toString();
    String trust = dir.resolve("data/trust.jwks").toString();
    Run.of("--home", home, "init");
    Run.of("--home", home, "run", "js", "--param", "source=6*7");
    Run.of("--home", home, "close", "main");
    assertThat(Run.of("--home", home, "export", "main", "-o", bundle).status()).isZero();

    Path pinned = dir.resolve("pinned.html");
    Run made = Run.of("report", bundle, "-o", pinned.toString(), "--trust", trust);
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.out()).contains("pinned").doesNotContain("not pinned");
    assertThat(Files.readString(pinned))
        .startsWith("<!doctype html>")
        .contains("\"trust\":{\"keys\":", "\"tree\":{", "export async function verifyBundle");

    Path unpinned = dir.resolve("unpinned.html");
    Run other = Run.of("--json", "report", bundle, "-o", unpinned.toString());
    assertThat(other.out()).contains("\"pinned\":false");
    assertThat(Files.readString(unpinned)).doesNotContain("\"trust\":{\"keys\":");

    Path replayed = dir.resolve("replayed.html");
    Run third = Run.of("report", bundle, "-o", replayed.toString(), "--replay");
    assertThat(third.status()).as(third.err()).isZero();
    assertThat(Files.readString(replayed)).contains("\"state\":\"COMPLETE\"", "\"divergences\":[]");

    Run again = Run.of("report", bundle, "-o", pinned.toString());
    assertThat(again.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(again.err()).contains("CLI-023");
    assertThat(Run.of("report", bundle).status()).isEqualTo(2);
    assertThat(Run.of("report", "-o", dir.resolve("x").toString()).status()).isEqualTo(2);

    byte[] bytes = Files.readAllBytes(Path.of(bundle));
    bytes[bytes.length / 2] ^= 1;
    Files.write(Path.of(bundle), bytes);
    Path broken = dir.resolve("broken.html");
    Run refused = Run.of("report", bundle, "-o", broken.toString());
    assertThat(refused.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(refused.err()).contains("RPL-");
    assertThat(broken).doesNotExist();
  }

  @Test
  void theVerifierComesOutAsItIs(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("verify.mjs");
    Run made = Run.of("report", "--verifier", "-o", file.toString());
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(file).hasBinaryContent(SecondVerifier.source());
    assertThat(Run.of("report", "x.writ", "--verifier", "-o", file + "2").status()).isEqualTo(2);
  }
}
