package dev.writ.guardian.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** JSON is a part of YAML 1.2: whatever is JSON is read, as the value that it is. */
class JsonIsYamlTest {
  private static final String[] SPACES = {"", "", " ", "\t", "\n", "\r\n", "\r", " \n\t "};
  private static final String[] TEXTS = {
    "",
    "a",
    "~",
    "yes",
    "0x10",
    "a: b",
    "# no",
    "\\u0000",
    "\\ud83d\\ude00",
    "😀",
    "\\\"",
    "\\\\",
    "\\/",
    "- a",
    "&a",
    "*a",
    "!t",
    "%",
    "@",
    "`",
    "\u2028",
    "\u0085",
    "tab\\t",
    "{",
    "]",
    "null",
    ":x"
  };

  private static Located read(String text) {
    return PlainYaml.read(text.getBytes(StandardCharsets.UTF_8), "f");
  }

  private static JsonValue json(String text) {
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\"\n: 1}",
        "\t{\"a\": 1}",
        "{\t\"a\"\t:\t[\t1\t,\t2\t]\t}\t",
        "[\":x\"]",
        "{\"a\":1}",
        "[1,-0,0.5,1e2,1E+2,1e-2]",
        "{\"\":{}}",
        "[]",
        "{\"a\"\r\n\t:\r\"b\"}",
      })
  void thisIsReadAsWhatItIs(String text) {
    assertThat(read(text).plain()).isEqualTo(json(text));
  }

  private static String random(Random random, int depth) {
    String around = SPACES[random.nextInt(SPACES.length)];
    int kind = random.nextInt(depth > 4 ? 4 : 6);
    String value =
        switch (kind) {
          case 0 -> new String[] {"true", "false", "null"}[random.nextInt(3)];
          case 1 -> String.valueOf(random.nextInt(-1000, 1000));
          case 2 -> random.nextInt(100) + "." + random.nextInt(100) + "e" + random.nextInt(-9, 9);
          case 3 -> "\"" + TEXTS[random.nextInt(TEXTS.length)] + "\"";
          case 4 -> list(random, depth, "[", "]", false);
          default -> list(random, depth, "{", "}", true);
        };
    return around + value + SPACES[random.nextInt(SPACES.length)];
  }

  private static String list(Random random, int depth, String open, String close, boolean keys) {
    List<String> items = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      String key = "\"" + i + TEXTS[random.nextInt(TEXTS.length)] + "\"";
      String space = SPACES[random.nextInt(SPACES.length)];
      items.add((keys ? space + key + space + ":" : "") + random(random, depth + 1));
    }
    String empty = items.isEmpty() ? SPACES[random.nextInt(SPACES.length)] : "";
    return open + empty + String.join(",", items) + close;
  }

  @Test
  void anyJsonIsReadAsWhatItIs() {
    long seed = Long.getLong("writ.seed", 20261122);
    Random random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      String text = "[" + random(random, 0) + "]";
      assertThat(read(text).plain()).as("-Dwrit.seed=" + seed + " " + text).isEqualTo(json(text));
    }
  }

  /** The places are those that YAML's own parser finds, where it reads the text. */
  @Test
  void itsPlacesAreThoseOfYaml() {
    String text = "{\n  \"a\": [1, \"😀\", true],\n  \"b\": {\"c\": null}\n}\n";
    // An empty document's end makes it YAML that is no JSON.
    assertThat(read(text)).isEqualTo(read(text + "...\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\":1,\"a\":2} | GRD-506",
        "[9007199254740993] | GRD-505",
        "[1e400] | GRD-505",
      })
  void itIsHeldToTheRulesOfAllFiles(String text, String code) {
    assertThatThrownBy(() -> read(text))
        .isInstanceOf(WritException.class)
        .hasMessageContaining(code)
        .hasMessageContaining("line 1, column ");
  }

  /** YAML's JSON schema of scalars, with what it knows not as text. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "true | true",
        "True | \"True\"",
        "yes | \"yes\"",
        "null | null",
        "~ | \"~\"",
        "Null | \"Null\"",
        "0x10 | \"0x10\"",
        "0o17 | \"0o17\"",
        "12 | 12",
        "-1.5e3 | -1500",
        "+1 | \"+1\"",
        "1_000 | \"1_000\"",
        "012 | \"012\"",
        ".5 | \".5\"",
        "2026-01-01 | \"2026-01-01\"",
      })
  void aPlainScalarIsWhatJsonWouldHaveItBe(String text, String value) {
    assertThat(((JsonValue.Obj) read("a: " + text).plain()).get("a")).isEqualTo(json(value));
  }
}
