package dev.writ.cli.term;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private void work(String terminals) {
    Terminal terminal =
        new Terminal(InputStream.nullInputStream(), out, err, terminals, Map.of("COLUMNS", "40"));
    try (Progress progress = new Progress(terminal)) {
      for (int i = 0; i <= 1000; i++) {
        progress.step("reading " + "x".repeat(60), i, 1000);
      }
    }
    terminal.finish();
  }

  @Test
  void onATerminalItIsOneLineThatIsGoneAtTheEnd() {
    work("err");
    String shown = err.toString(StandardCharsets.UTF_8);
    assertThat(shown).startsWith("\r\u001b[Kreading x").endsWith("\r\u001b[K").doesNotContain("\n");
    assertThat(shown.split("\r\u001b\\[K")).allSatisfy(s -> assertThat(s).hasSizeLessThan(40));
    assertThat(out.size()).isZero();
  }

  @Test
  void inAPipeItIsSilent() {
    work("out");
    assertThat(err.size() + out.size()).isZero();
  }
}
