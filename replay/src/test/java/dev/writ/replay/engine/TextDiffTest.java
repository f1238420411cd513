package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TextDiffTest {
  @Test
  void a_script_makes_the_one_text_of_the_other() {
    long seed = Long.getLong("writ.seed", 7);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 3_000; round++) {
      List<String> one = lines(random);
      List<String> other = lines(random);
      List<Character> script = TextDiff.script(one, other);
      int i = 0;
      int j = 0;
      for (char sign : script) {
        if (sign == ' ') {
          assertThat(one.get(i++)).isEqualTo(other.get(j++));
        } else if (sign == '-') {
          i++;
        } else {
          j++;
        }
      }
      assertThat(i).isEqualTo(one.size());
      assertThat(j).isEqualTo(other.size());
      long kept = script.stream().filter(c -> c == ' ').count();
      assertThat(kept).as(one + " " + other).isEqualTo(longestCommon(one, other));
    }
  }

  private static List<String> lines(Random random) {
    List<String> lines = new ArrayList<>();
    int size = random.nextInt(12);
    for (int i = 0; i < size; i++) {
      lines.add(String.valueOf((char) ('a' + random.nextInt(3))));
    }
    return lines;
  }

  private static int longestCommon(List<String> a, List<String> b) {
    int[][] best = new int[a.size() + 1][b.size() + 1];
    for (int i = 1; i <= a.size(); i++) {
      for (int j = 1; j <= b.size(); j++) {
        best[i][j] =
            a.get(i - 1).equals(b.get(j - 1))
                ? best[i - 1][j - 1] + 1
                : Math.max(best[i - 1][j], best[i][j - 1]);
      }
    }
    return best[a.size()][b.size()];
  }

  @Test
  void hunks_have_three_lines_around_them() {
    String one = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20";
    String other = one.replace("\n5\n", "\nfive\n").replace("\n19\n", "\n");
    assertThat(text("text/plain", one, other))
        .isEqualTo(
            """
            @@ -2,7 +2,7 @@
             2
             3
             4
            -5
            +five
             6
             7
             8
            @@ -16,5 +16,4 @@
             16
             17
             18
            -19
             20
            """);
  }

  @Test
  void what_is_no_text_or_too_long_has_none_and_what_differs_in_all_is_shown_whole() {
    byte[] binary = {0, 1, (byte) 0xff};
    assertThat(TextDiff.of("application/octet-stream", binary, binary)).isEmpty();
    assertThat(TextDiff.of("text/plain", new byte[(1 << 20) + 1], new byte[0])).isEmpty();
    StringBuilder one = new StringBuilder();
    StringBuilder other = new StringBuilder();
    for (int i = 0; i < 3_000; i++) {
      one.append("a").append(i).append('\n');
      other.append("b").append(i).append('\n');
    }
    assertThat(text("text/plain", one.toString(), other.toString())).endsWith("…\n");
    assertThat(text("application/json", "not json", "{\"a\":[1]}"))
        .contains("-not json", "+  \"a\": [");
  }

  @Test
  void what_only_one_of_them_has_decides_too() {
    byte[] text = "a\tb\r\nc".getBytes(StandardCharsets.UTF_8);
    byte[] half = {'a', (byte) 0xc3};
    byte[] control = {'a', 0x1b, '[', '2', 'J'};
    byte[] large = new byte[(1 << 20) + 1];
    for (byte[] other : List.of(half, control, large)) {
      assertThat(TextDiff.of("text/plain", text, other)).isEmpty();
      assertThat(TextDiff.of("text/plain", other, text)).isEmpty();
    }
    assertThat(text("text/plain", "a\tb\r\nc", "a\tb\r\nd"))
        .isEqualTo(
            """
            @@ -1,2 +1,2 @@
             a\tb\r
            -c
            +d
            """);
  }

  @Test
  void json_is_laid_out_by_its_members_and_nothing_of_it_is_lost() {
    assertThat(
            text(
                "application/json",
                "{\"a\":{},\"b\":[],\"c\":\"x\"}",
                "{\"a\":{\"n\":1,\"m\":[2,3]},\"b\":[],\"c\":\"x\"}"))
        .isEqualTo(
            """
            @@ -1,5 +1,11 @@
             {
            -  "a": {},
            +  "a": {
            +    "m": [
            +      2,
            +      3
            +    ],
            +    "n": 1
            +  },
               "b": [],
               "c": "x"
             }
            """);
  }

  @Test
  void equal_texts_have_nothing_to_show_and_an_empty_one_is_one_line() {
    assertThat(text("text/plain", "a\nb", "a\nb")).isEmpty();
    assertThat(text("text/plain", "", "a")).isEqualTo("@@ -1,1 +1,1 @@\n-\n+a\n");
  }

  private static String text(String type, String one, String other) {
    return TextDiff.of(
            type, one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8))
        .orElseThrow();
  }
}
