package dev.writ.guardian.policy.cel;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.PatternSyntaxException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LinearPatternTest {
  private static final int ANY = Integer.MAX_VALUE;

  @Test
  void aNumberOfACharacterIsNoCount() {
    for (String pattern : List.of("^[\\x{3040}-\\x{30ff}]{1,200}$", "\\x{100000}+")) {
      assertThat(LinearPattern.sizeAtMost(pattern)).as(pattern).isLessThan(10_000);
    }
    assertThat(LinearPattern.compile("^[\\x{3040}-\\x{30ff}]+$", 1_000)).isPresent();
    assertThat(LinearPattern.compile("^[\\x{3040}-\\x{30ff}]+$", 1_000).get().isIn("ひらがな"))
        .isTrue();
    assertThat(LinearPattern.sizeAtMost("(\\\\x{1000}){1000}"))
        .as("a backslash, and a counted x")
        .isGreaterThan(1_000_000);
  }

  @Test
  void aCountOfAnyCharacterIsSeen() {
    for (String counted : List.of("a", "\n", ".", "\\)", "é", "😀", "]", "[x]", "\\pL")) {
      assertThat(LinearPattern.compile("((" + counted + "{1000}){1000}){1000}", ANY))
          .as(counted)
          .isEmpty();
    }
  }

  /** So nothing is compiled that is a thousand times larger than it looks. */
  @Test
  void aProgramIsNoLargerThanItsEstimate() {
    Random random = new Random(20261130);
    List<String> parts =
        List.of(
            "a",
            "\n",
            ".",
            "[a-f]",
            "\\d",
            "(",
            ")",
            "|",
            "*",
            "?",
            "{2}",
            "{3,}",
            "{0,4}",
            "{7}",
            "\\Q",
            "\\E",
            "\\x{3042}",
            "\\\\",
            "x",
            "(?i)",
            "k",
            "\\pN",
            "^",
            "$",
            "\\b");
    int compiled = 0;
    for (int n = 0; n < 20_000; n++) {
      StringBuilder source = new StringBuilder();
      for (int i = random.nextInt(1, 14); i > 0; i--) {
        source.append(parts.get(random.nextInt(parts.size())));
      }
      try {
        var pattern = LinearPattern.compile(source.toString(), ANY);
        if (pattern.isPresent()) {
          compiled++;
          long most = LinearPattern.sizeAtMost(source.toString());
          assertThat((long) pattern.get().size()).as(source.toString()).isLessThan(4 * most + 8);
        }
      } catch (PatternSyntaxException e) {
        // none of RE2's
      }
    }
    assertThat(compiled).isGreaterThan(2_000);
  }
}
