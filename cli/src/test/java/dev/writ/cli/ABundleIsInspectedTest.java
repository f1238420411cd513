package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.term.Text;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A bundle is shown as it says of itself, and never as if it were verified. */
class ABundleIsInspectedTest {
  @Test
  void asItSaysOfItself(@TempDir Path dir) throws Exception {
    String home = dir.resolve("data").toString();
    Path file = dir.resolve("main.writ");
    assertThat(Run.of("--home", home, "init").status()).isZero();
    Run answered = Run.of("--home", home, "run", "js", "--param", "source=6*7", "--json");
    assertThat(answered.status()).isZero();
    assertThat(Run.of("--home", home, "run", "none", "--param", "a=b").status()).isNotZero();
    assertThat(Run.of("--home", home, "close", "main").status()).isZero();
    assertThat(Run.of("--home", home, "export", "main", "-o", file.toString()).status()).isZero();

    String none = dir.resolve("none").toString();
    Run run = Run.of("--home", none, "inspect", file.toString());
    assertThat(run.status()).as(run.err()).isZero();
    JsonValue.Obj answer =
        (JsonValue.Obj) Jcs.parse(answered.out().getBytes(StandardCharsets.UTF_8));
    String receipt = ((JsonValue.Str) answer.get("receipt_id")).value();
    assertThat(run.out())
        .contains("closed", "1 ALLOW", "1 succeeded", "1 × js ", "× agent", "checkpoint", receipt)
        .doesNotContain("verified");
    assertThat(run.err())
        .isEqualTo("Nothing of this is verified; to do that: writ verify " + file + "\n");

    Run json = Run.of("inspect", file.toString(), "--json");
    assertThat(json.out()).contains("\"verified\":false", "\"first_receipt\":\"" + receipt);
    assertThat(json.err()).isEmpty();

    Run narrow =
        Run.on("", "out", Map.of("COLUMNS", "80"), Commands.ALL, "inspect", file.toString());
    assertThat(narrow.out().lines())
        .allMatch(line -> Text.width(line.replaceAll("\u001b\\[[0-9]*m", "")) <= 80);
  }

  @Test
  void whatIsNoBundleHasACode(@TempDir Path dir) throws Exception {
    Run missing = Run.of("inspect", dir.resolve("none").toString());
    assertThat(missing.err()).startsWith("writ: CLI-002 ");
    Path text = Files.writeString(dir.resolve("text"), "\u001b[2J no bundle, but long enough");
    Run run = Run.of("inspect", text.toString());
    assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(run.err()).startsWith("writ: RPL-").doesNotContain("\u001b").hasLineCount(1);
    assertThat(run.out()).isEmpty();
    assertThat(Run.of("verify", text.toString()).out()).contains(run.err().substring(6, 13));
  }
}
