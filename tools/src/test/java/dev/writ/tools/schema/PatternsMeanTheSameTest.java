package dev.writ.tools.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.TestTools;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stranger's pattern, as RE2 runs it, against the same one in an engine of JavaScript. */
class PatternsMeanTheSameTest {
  private static final List<String> PIECES =
      List.of(
          "a", "b", "-", "é", "😀", ".", "\\.", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b",
          "\\B", "^", "$", "|", "(", "(?:", ")", "[", "[^", "]", "a-b", "\\-", "*", "+", "?", "{2}",
          "{1,2}", "{0,}", "\\t", "\\n", "\\x41", "\\u00e9", "\\/", "(?=", "(?!", "\\p{L}", "\\1",
          "@", "&&", "[:", "\\");

  private static final List<String> TEXTS =
      List.of(
          "", "a", "b", "ab", "ba", "a-b", "-", "é", "É", "😀", "a\n", "\r", "\u2028", "\u00a0",
          "\ufeff", "1", "_", ".", "A", "a b", "\t", "\u000b", "\\", "]", "&", ":", "@");

  private static final String SCRIPT =
      """
      function main(i) {
        return i.patterns.map(p => {
          try { const r = new RegExp(p, 'u'); return i.texts.map(t => r.test(t) ? 1 : 0).join('') }
          catch (e) { return '' }
        })
      }
      """;

  private static String pattern(Random random) {
    StringBuilder pattern = new StringBuilder();
    for (int i = random.nextInt(6); i >= 0; i--) {
      pattern.append(PIECES.get(random.nextInt(PIECES.size())));
      if (random.nextInt(6) == 0) {
        pattern.append("[").append(PIECES.get(random.nextInt(PIECES.size())));
        pattern.append(PIECES.get(random.nextInt(PIECES.size()))).append("]");
      }
    }
    return pattern.toString();
  }

  @Test
  void a_pattern_that_is_held_finds_what_ecma_262_finds() {
    long seed = Long.getLong("writ.seed", 20261123L);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    int rounds = Integer.getInteger("writ.rounds", 6_000);
    List<String> sources = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      String source = pattern(random);
      if (EcmaPattern.of(source).isPresent()) {
        sources.add(source);
      }
    }
    assertThat(sources).hasSizeGreaterThan(rounds / 20);
    JsonValue input =
        JsonValue.object()
            .put("patterns", JsonValue.of(sources.stream().map(JsonValue::of).toList()))
            .put("texts", JsonValue.of(TEXTS.stream().map(JsonValue::of).toList()))
            .build();
    String said =
        TestTools.builtin("js", "eval")
            .params(JsonValue.object().put("source", SCRIPT).put("input", input).build())
            .text();
    JsonValue.Arr answers = (JsonValue.Arr) Jcs.parse(said.getBytes(StandardCharsets.UTF_8));
    int compared = 0;
    for (int i = 0; i < sources.size(); i++) {
      String source = sources.get(i);
      String theirs = ((JsonValue.Str) answers.items().get(i)).value();
      if (theirs.isEmpty()) {
        continue; // with the flag u this is no pattern, and without it a server's own affair
      }
      compared++;
      EcmaPattern.Held held = EcmaPattern.of(source).orElseThrow();
      StringBuilder ours = new StringBuilder();
      for (String text : TEXTS) {
        boolean found = Pattern.compile(held.exact()).matcher(text).find();
        ours.append(found ? 1 : 0);
      }
      assertThat(ours.toString()).as(source + " as " + held.exact()).isEqualTo(theirs);
      for (int t = 0; t < TEXTS.size(); t++) {
        if (theirs.charAt(t) == '1' && !source.contains("^") && !source.contains("[")) {
          assertThat(Pattern.compile(held.loose()).matcher(TEXTS.get(t)).find()).isTrue();
        }
      }
    }
    assertThat(compared).isGreaterThan(rounds / 40);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(?=a)",
        "(?!a)b",
        "(?<=a)",
        "(?<!a)",
        "(?<n>a)\\k<n>",
        "(a)\\1",
        "(?i)a",
        "a{2,1}",
        "a{1001}",
        "[]",
        "[^]",
        "[\\S]",
        "[a-\\d]",
        "[\\d-z]",
        "a**",
        "^*",
        "(",
        "[a",
        "\\",
        "\\q",
        "\\u00e",
        "\\ud83d",
        "x{,3}",
        "a]",
        "\\p{L}"
      })
  void what_another_engine_reads_in_another_way_is_not_held(String pattern) {
    assertThat(EcmaPattern.of(pattern)).isEqualTo(Optional.empty());
  }

  @Test
  void a_pattern_of_a_thousand_characters_is_read_once() {
    assertThat(EcmaPattern.of("a?".repeat(500))).isPresent();
    assertThat(EcmaPattern.of("a?".repeat(501))).isEmpty();
    assertThat(EcmaPattern.of("?".repeat(1_000))).isEmpty();
  }
}
