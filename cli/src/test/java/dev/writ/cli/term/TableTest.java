package dev.writ.cli.term;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TableTest {

  private static Table receipts() {
    return new Table()
        .column("request", Table.Fit.CUT)
        .column("verdict", Table.Fit.KEEP)
        .column("why", Table.Fit.WRAP)
        .numbers("bytes")
        .row("sha256:0123456789abcdef0123456789abcdef", "ALLOW", "all four checks pass", "12")
        .row(
            "sha256:fedcba9876543210fedcba9876543210",
            "DENY",
            "GRD-201 the budget of calls is spent: 100 of 100 in this window",
            "0")
        .row("sha256:00", "ESCALATE", "予算の承認が必要です", "1048576");
  }

  private static String text(Table table, int width) {
    return String.join("\n", table.lines(width, false)) + "\n";
  }

  @Test
  void at60Cells() {
    assertThat(text(receipts(), 60))
        .isEqualTo(
            """
            request              verdict   why                     bytes
            ───────────────────  ────────  ────────────────────  ───────
            sha256:0123456789a…  ALLOW     all four checks pass       12
            sha256:fedcba98765…  DENY      GRD-201 the budget          0
                                           of calls is spent:
                                           100 of 100 in this
                                           window
            sha256:00            ESCALATE  予算の承認が必要です  1048576
            """);
  }

  @Test
  void at80Cells() {
    assertThat(text(receipts(), 80))
        .isEqualTo(
            """
            request                        verdict   why                               bytes
            ─────────────────────────────  ────────  ──────────────────────────────  ───────
            sha256:0123456789abcdef01234…  ALLOW     all four checks pass                 12
            sha256:fedcba9876543210fedcb…  DENY      GRD-201 the budget of calls is        0
                                                     spent: 100 of 100 in this
                                                     window
            sha256:00                      ESCALATE  予算の承認が必要です            1048576
            """);
  }

  @Test
  void at120Cells() {
    assertThat(text(receipts(), 120))
        .isEqualTo(
            """
            request                                  verdict   why                                                             bytes
            ───────────────────────────────────────  ────────  ────────────────────────────────────────────────────────────  ───────
            sha256:0123456789abcdef0123456789abcdef  ALLOW     all four checks pass                                               12
            sha256:fedcba9876543210fedcba9876543210  DENY      GRD-201 the budget of calls is spent: 100 of 100 in this            0
                                                               window
            sha256:00                                ESCALATE  予算の承認が必要です                                          1048576
            """);
  }

  @Test
  void noLineIsWiderThanTheTerminalWhateverTheCellsHold() {
    long seed = Long.getLong("writ.seed", 20261121);
    Random random = new Random(seed);
    for (int n = 0; n < 2000; n++) {
      Table table =
          new Table()
              .column("a", Table.Fit.CUT)
              .column("head", Table.Fit.WRAP)
              .column("c", Table.Fit.KEEP)
              .numbers("n");
      for (int row = random.nextInt(4); row >= 0; row--) {
        table.row(any(random), any(random), any(random), any(random));
      }
      int width = 40 + random.nextInt(100);
      assertThat(table.lines(width, false))
          .as("seed %d, table %d, width %d", seed, n, width)
          .allSatisfy(line -> assertThat(Text.width(line)).isLessThanOrEqualTo(width));
    }
  }

  private static String any(Random random) {
    List<String> parts =
        List.of("a", "word ", "日本", "e\u0301", "🎉", "\u001b[1m", "\n", "  ", "-----");
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(30); i > 0; i--) {
      text.append(parts.get(random.nextInt(parts.size())));
    }
    return text.toString();
  }

  @Test
  void coloursChangeNoWidthAndOnlyAppearWhenAskedFor() {
    Table table =
        new Table()
            .column("x", Table.Fit.KEEP)
            .column("y", Table.Fit.KEEP)
            .row(Table.cell("ok", Style.GOOD), Table.cell("z"));
    assertThat(table.lines(80, false)).containsExactly("x   y", "──  ─", "ok  z");
    assertThat(table.lines(80, true).get(2)).isEqualTo("\u001b[32mok\u001b[0m  z");
  }

  @Test
  void whatSteersATerminalIsShownAndNotSent() {
    assertThat(Text.printable("a\u001b]0;t\u0007\r\u0000b\u202e\u2028"))
        .isEqualTo("a\uFFFD]0;t\uFFFD\uFFFD\uFFFDb\uFFFD\uFFFD");
    assertThat(Text.printable("a\nb\tc")).isEqualTo("a⏎b c");
    assertThat(Text.printable("日本 é 🎉")).isEqualTo("日本 é 🎉");
  }

  @Test
  void widthCountsCellsAndNotCharacters() {
    assertThat(Text.width("abc")).isEqualTo(3);
    assertThat(Text.width("日本")).isEqualTo(4);
    assertThat(Text.width("e\u0301")).isEqualTo(1);
    assertThat(Text.width("🎉")).isEqualTo(2);
  }

  @Test
  void cutAndWrapKeepWhatFits() {
    assertThat(Text.cut("abcdef", 6)).isEqualTo("abcdef");
    assertThat(Text.cut("abcdefg", 6)).isEqualTo("abcde…");
    assertThat(Text.cut("日本語日本", 6)).isEqualTo("日本…");
    assertThat(Text.wrap("one two three", 7)).containsExactly("one two", "three");
    assertThat(Text.wrap("abcdefghij", 4)).containsExactly("abcd", "efgh", "ij");
    assertThat(Text.wrap("日本語", 1)).containsExactly("日", "本", "語");
    assertThat(Text.wrap("", 4)).containsExactly("");
  }

  @Test
  void aRowWithAnotherNumberOfCellsIsAMistake() {
    assertThatThrownBy(() -> new Table().column("a", Table.Fit.CUT).row("1", "2"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
