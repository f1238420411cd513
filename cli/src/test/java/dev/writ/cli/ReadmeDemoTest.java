package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The README shows what {@code ./writ demo} prints: the demo is run, and its output compared with
 * the README's but for what is new in each run (ids, keys, signatures, the random number). After a
 * change that is meant, {@code -Dwrit.update=true} writes the README anew.
 */
class ReadmeDemoTest {
  private static final String BEGIN = "<!-- demo -->\n```text\n";
  private static final String END = "```\n<!-- /demo -->";

  @Test
  void theReadmeShowsTheDemoAsItIs(@TempDir Path folder) throws IOException {
    String home = folder.resolve("writ-data").toString();
    Map<String, String> environment = Map.of("COLUMNS", "108", "NO_COLOR", "1");
    Run run = Run.on("", "out", environment, Commands.ALL, "--home", home, "demo");
    assertThat(run.status()).as(run.err()).isZero();
    String shown = run.out().replace(home, "writ-data").replace("\n  writ ", "\n  ./writ ");

    Path readme = Project.root().resolve("README.md");
    String text = Project.read(readme);
    int begin = text.indexOf(BEGIN) + BEGIN.length();
    int end = text.indexOf(END, begin);
    assertThat(begin).isGreaterThan(BEGIN.length());
    assertThat(end).isGreaterThan(0);
    if (Boolean.getBoolean("writ.update")) {
      Files.writeString(readme, text.substring(0, begin) + shown + text.substring(end));
      return;
    }
    assertThat(masked(text.substring(begin, end))).isEqualTo(masked(shown));
  }

  /** What each run makes anew, as a word of no particular length; spaces follow from lengths. */
  private static String masked(String text) {
    return text.replaceAll("sha256:[0-9a-f]{64}", "DIGEST")
        .replaceAll("\\b[0-9a-f]{12}\\b", "ID")
        .replaceAll("log key \\S+:", "log key KEY:")
        .replaceAll("(?m)^  — (\\S+) \\S+$", "  — $1 SIGNATURE")
        .replaceAll("(?m)^  [A-Za-z0-9+/]{43}=$", "  ROOT")
        .replaceAll("0\\.\\d{6,}(e-\\d+)?", "RANDOM")
        .replaceAll(" +", " ")
        .replaceAll("─+", "─");
  }
}
