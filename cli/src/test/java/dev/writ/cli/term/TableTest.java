package dev.writ.cli.term;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import java.time.Instant;
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

  private static final Digest ID = Digest.sha256(new byte[] {'a'});

  private static Table log(Instant... times) {
    Table table =
        new Table()
            .column("time", Table.Fit.KEEP)
            .column("who", Table.Fit.CUT)
            .column("id", Table.Fit.KEEP)
            .numbers("first", Table.Fit.OMIT)
            .column("in full", Table.Fit.DATA)
            .column("last", Table.Fit.OMIT);
    for (Instant time : times) {
      table.row(
          Table.time(time, NOW),
          Table.cell("a name that is rather long"),
          Table.id(ID, Style.NAME),
          Table.cell(12),
          Table.cell("a\"b\nc, d"),
          Table.none());
    }
    return table;
  }

  private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");
  private static final Instant[] TIMES = {
    Instant.parse("2026-11-24T08:00:05.120Z"),
    Instant.parse("2026-11-23T17:40:00Z"),
    Instant.parse("2024-01-02T03:04:05Z")
  };

  @Test
  void whereItIsTooWideTimesAreBriefThenNamesAreCutThenColumnsGoTheLastFirst() {
    assertThat(text(log(TIMES), 90))
        .isEqualTo(
            """
            time                      who                         id            first  last
            ────────────────────────  ──────────────────────────  ────────────  ─────  ────
            2026-11-24T08:00:05.120Z  a name that is rather long  ca978112ca1b     12  –
            2026-11-23T17:40:00.000Z  a name that is rather long  ca978112ca1b     12  –
            2024-01-02T03:04:05.000Z  a name that is rather long  ca978112ca1b     12  –
            """);
    assertThat(log(TIMES).lines(60, false))
        .contains(
            "08:00:05Z     a name that is rat…  ca978112ca1b     12  –",
            "11-23 17:40Z  a name that is rat…  ca978112ca1b     12  –",
            "2024-01-02    a name that is rat…  ca978112ca1b     12  –");
    assertThat(log(TIMES).leftOut(60)).isEmpty();
    assertThat(log(TIMES).leftOut(52)).containsExactly("last");
    assertThat(log(TIMES).leftOut(42)).containsExactly("first", "last");
    assertThat(log(TIMES[0]).lines(40, false)).contains("08:00:05Z  a name that is…  ca978112ca1b");
  }

  @Test
  void ofAnIdSoMuchIsLeftInANarrowTableThatItCanBeTyped() {
    for (int width = 10; width < 60; width++) {
      String row = log(TIMES[0]).lines(width, false).getLast();
      assertThat(row).as("%d cells", width).containsPattern(" ca978112(c|ca|ca1|ca1b)?( |$)");
    }
  }

  @Test
  void csvHasEveryColumnAndWholeValues() {
    Table table = log(TIMES[0]);
    assertThat(table.csvHead()).isEqualTo("time,who,id,first,in_full,last");
    assertThat(table.csvRows())
        .containsExactly(
            "2026-11-24T08:00:05.120Z,a name that is rather long," + ID + ",12,\"a\"\"b\nc, d\",");
    Table hostile = new Table().column("a", Table.Fit.CUT).row(" \u202e\u0007=1+1\r");
    assertThat(hostile.csvRows()).as("as it is").containsExactly("\" \u202e\u0007=1+1\r\"");
  }

  @Test
  void aTableThatGoesOnShowsEachRowOnce() {
    Table table = log(TIMES[0]);
    assertThat(table.lines(90, false)).hasSize(3);
    assertThat(table.drain(90, false)).hasSize(1);
    assertThat(table.drain(90, false)).isEmpty();
    assertThat(table.drainCsv()).isEmpty();
  }

  @Test
  void aRowWithAnotherNumberOfCellsIsAMistake() {
    assertThatThrownBy(() -> new Table().column("a", Table.Fit.CUT).row("1", "2"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
