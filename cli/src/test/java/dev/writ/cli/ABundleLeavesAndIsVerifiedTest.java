package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ABundleLeavesAndIsVerifiedTest {
  @Test
  void fromAnInstallationToAnAuditor(@TempDir Path dir) throws Exception {
    String home = dir.resolve("data").toString();
    String file = dir.resolve("main.writ").toString();
    String trust = dir.resolve("data/trust.jwks").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    assertThat(Run.of("--home", home, "run", "js", "--param", "source=6*7").status()).isZero();
    Run early = Run.of("--home", home, "export", "main", "-o", file);
    assertThat(early.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(early.err()).contains("RPL-051", "writ checkpoint");
    assertThat(Files.exists(Path.of(file))).isFalse();
    assertThat(Run.of("--home", home, "close", "main").status()).isZero();
    String nowhere = dir.resolve("none/main.writ").toString();
    assertThat(Run.of("--home", home, "export", "main", "-o", nowhere).err())
        .startsWith("writ: CLI-003 a file cannot be written: " + nowhere + ": not there. ");
    Run export = Run.of("--home", home, "export", "main", "-o", file);
    assertThat(export.status()).as(export.err()).isZero();
    assertThat(Run.of("verify", trust, "--trust", file).err())
        .startsWith("writ: CAN-003 ")
        .contains(file + " (--trust): an archive, as bundles are: ");
    assertThat(Run.of("verify", file, "--trust", trust, "--checkpoint", trust).err())
        .startsWith("writ: LED-050 ")
        .contains(trust + " (--checkpoint): ");
    byte[] bundle = Files.readAllBytes(Path.of(file));

    Run again = Run.of("--home", home, "export", "main", "-o", file);
    assertThat(again.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(again.err()).contains("CLI-023");
    assertThat(Files.readAllBytes(Path.of(file))).isEqualTo(bundle);
    assertThat(Run.of("--home", home, "export", "none", "-o", file + "2").err())
        .contains("RPL-050");
    assertThat(Run.of("--home", home, "export", "main").status()).isEqualTo(2);

    Run pinned = Run.of("verify", file, "--trust", trust, "--closed");
    assertThat(pinned.status()).as(pinned.out()).isZero();
    assertThat(pinned.out()).contains("verified: the run is closed", "judged again");
    Run unpinned = Run.of("verify", file);
    assertThat(unpinned.status()).isEqualTo(ExitCode.INTEGRITY_ONLY.status());
    assertThat(unpinned.out()).contains("integrity only; signer not pinned");

    String note = dir.resolve("kept.txt").toString();
    Run checkpoint = Run.of("--home", home, "checkpoint");
    assertThat(checkpoint.status()).as(checkpoint.err()).isZero();
    Files.writeString(Path.of(note), checkpoint.out());
    String kept = dir.resolve("kept.writ").toString();
    Run shown = Run.of("--home", home, "export", "main", "-o", kept, "--checkpoint", note);
    assertThat(shown.status()).as(shown.err()).isZero();
    assertThat(Run.of("verify", kept, "--trust", trust, "--checkpoint", note).out())
        .contains("the kept checkpoint");

    String other = dir.resolve("other").toString();
    assertThat(Run.of("--home", other, "init").status()).isZero();
    Run foreign = Run.of("verify", file, "--trust", other + "/trust.jwks");
    assertThat(foreign.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(foreign.out()).contains("RPL-041");

    // Inside an entry's content, wherever the entries of these new keys come to lie.
    int inside = new String(bundle, StandardCharsets.ISO_8859_1).indexOf("effect.dispatched");
    assertThat(inside).isPositive();
    bundle[inside] ^= 1;
    Files.write(Path.of(file), bundle);
    Run broken = Run.of("--json", "verify", file, "--trust", trust);
    assertThat(broken.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(broken.out()).contains("\"holds\":false", "\"code\":\"RPL-015\"");
  }
}
