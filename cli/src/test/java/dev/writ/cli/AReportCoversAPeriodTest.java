package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One page over several runs: of bundles, or of the data directory and a period. */
class AReportCoversAPeriodTest {
  private static String home(Path dir) {
    String home = dir.resolve("data").toString();
    Run.of("--home", home, "init");
    Run.of("--home", home, "run", "js", "--param", "source=1");
    Run.of("--home", home, "run", "js", "--param", "source=2", "--run", "second");
    assertThat(Run.of("--home", home, "close", "main").status()).isZero();
    assertThat(Run.of("--home", home, "close", "second").status()).isZero();
    return home;
  }

  @Test
  void ofTheDataDirectoryByTime(@TempDir Path dir) throws Exception {
    String home = home(dir);
    String trust = home + "/trust.jwks";
    Path page = dir.resolve("period.html");
    Run made =
        Run.of("--home", home, "report", "--from", "1d", "--trust", trust, "-o", page.toString());
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.out()).contains("of 2 runs", "pinned");
    assertThat(Files.readString(page)).contains("\"selection\":{\"from\":\"", "\"tenant\":\"");

    Path none = dir.resolve("none.html");
    Run empty = Run.of("--home", home, "report", "--to", "2001-01-01", "-o", none.toString());
    assertThat(empty.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(empty.err()).contains("CLI-0", "0 runs");
    Run other = Run.of("--home", home, "report", "--tenant", "nobody", "-o", none.toString());
    assertThat(other.err()).contains("0 runs of tenant nobody");
    assertThat(none).doesNotExist();
  }

  @Test
  void ofBundlesThatAreNamed(@TempDir Path dir) throws Exception {
    String home = home(dir);
    String first = dir.resolve("first.writ").toString();
    String second = dir.resolve("second.writ").toString();
    Run.of("--home", home, "export", "main", "-o", first);
    Run.of("--home", home, "export", "second", "-o", second);
    Path page = dir.resolve("both.html");
    Run made = Run.of("--json", "report", first, second, "-o", page.toString());
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.out()).contains("\"runs\":2", "\"pinned\":false");

    Path never = dir.resolve("never.html");
    Run twice = Run.of("report", first, second, first, "-o", never.toString());
    assertThat(twice.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(twice.err()).contains("RPL-061", "main");
    byte[] bytes = Files.readAllBytes(Path.of(second));
    bytes[bytes.length / 2] ^= 1;
    Files.write(Path.of(second), bytes);
    Run broken = Run.of("report", first, second, "-o", never.toString());
    assertThat(broken.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(never).doesNotExist();

    String out = never.toString();
    assertThat(Run.of("report", first, "--sample", "3", "-o", out).status()).isEqualTo(2);
    assertThat(Run.of("report", first, "--seed", "s", "-o", out).status()).isEqualTo(2);
    Run blank = Run.of("report", first, "--sample", "3", "--seed", " ", "-o", out);
    assertThat(blank.status()).isEqualTo(2);
    assertThat(blank.err()).contains("--seed", "blanks").doesNotContain("belong together");
    Path drawn = dir.resolve("drawn.html");
    Run sampled = Run.of("report", first, "--sample", "3", "--seed", "a 7", "-o", drawn.toString());
    assertThat(sampled.status()).as(sampled.err()).isZero();
    assertThat(Files.readString(drawn)).contains("\"sample\":{\"seed\":\"a 7\",\"size\":3}");
    assertThat(Run.of("report", first, "--from", "1d", "-o", out).status()).isEqualTo(2);
    assertThat(Run.of("report", first, second, "--replay", "-o", out).status()).isEqualTo(2);
    assertThat(Run.of("report", "--verifier", first, "-o", out).status()).isEqualTo(2);
  }
}
