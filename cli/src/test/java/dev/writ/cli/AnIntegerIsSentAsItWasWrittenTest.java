package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JSON numbers are doubles; what none holds is no other number: spec/tool-mcp.md, Schemas. */
class AnIntegerIsSentAsItWasWrittenTest {
  @TempDir Path dir;
  private OneHome home;

  @BeforeEach
  void begin() {
    home = new OneHome(dir.resolve("home"), Map.of());
    home.done("init");
  }

  private Run echo(String json) {
    return home.writ("run", "js", "--param", "source=input", "--param-json", "input=" + json);
  }

  @Test
  void anIntegerThatNoDoubleHoldsIsRefusedAndNothingIsSigned() {
    String before = home.done("runs", "--json").out();
    for (String json :
        List.of(
            "9007199254740993",
            "-9007199254740993",
            "{\"a\":[1,123456789012345680000]}",
            "[\"\\\"9\",9007199254740993]")) {
      Run refused = echo(json);
      assertThat(refused.status()).as(json).isEqualTo(2);
      assertThat(refused.err())
          .as(json)
          .contains("input: no double holds")
          .contains("send it as a string");
    }
    assertThat(home.done("runs", "--json").out()).isEqualTo(before);
  }

  @Test
  void othersAndDigitsInTextsAreSentAsTheyAre() {
    for (String json :
        List.of("9007199254740992", "\"9007199254740993\"", "[\"\\\"9007199254740993\",0.1]")) {
      assertThat(echo(json).out().strip()).isEqualTo(json);
    }
    assertThat(echo("1e21").out().strip()).isEqualTo("1e+21");
  }
}
