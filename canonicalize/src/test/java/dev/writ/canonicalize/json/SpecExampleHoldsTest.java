package dev.writ.canonicalize.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What spec/canonical-json.md shows is what the code does. */
class SpecExampleHoldsTest {
  private static String page() throws IOException {
    return Files.readString(Path.of("..", "spec", "canonical-json.md"));
  }

  @Test
  void theExampleBecomesWhatIsShown() throws IOException {
    List<String> blocks =
        Pattern.compile("```json\n(.*?)\n```", Pattern.DOTALL)
            .matcher(page())
            .results()
            .map(m -> m.group(1))
            .toList();
    assertThat(blocks).hasSize(2);
    byte[] canonical = Jcs.canonicalize(blocks.get(0).getBytes(StandardCharsets.UTF_8));
    assertThat(new String(canonical, StandardCharsets.UTF_8)).isEqualTo(blocks.get(1));
    assertThat(page()).contains("`" + Digest.sha256(canonical) + "`");
  }

  @Test
  void theTableHasEveryCodeOfJsonAndNoOther() throws IOException {
    List<String> shown =
        Pattern.compile("^\\| (CAN-\\d+) \\|", Pattern.MULTILINE)
            .matcher(page())
            .results()
            .map((MatchResult m) -> m.group(1))
            .toList();
    List<String> codes =
        List.of(CanonicalizeError.values()).stream()
            .map(CanonicalizeError::code)
            .filter(code -> code.compareTo("CAN-020") < 0)
            .sorted()
            .toList();
    assertThat(shown).isEqualTo(codes);
  }
}
