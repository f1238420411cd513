package dev.writ.bench;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.writ.ledger.WrittenRows;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rows and bytes of the log for the effect of the benchmark. {@code -Dwrit.rows=true} prints
 * them.
 */
class AnEffectWritesFewRowsTest {
  private static final int EFFECTS = 50;

  @TempDir Path home;

  @Test
  void aNoOpEffectIsOneWriteOfFewRowsAndBytes() {
    WrittenRows written = new WrittenRows();
    try (Lab lab = new Lab(home, false, written::create)) {
      List<byte[]> requests = lab.requests("weighed", EFFECTS + 1);
      lab.submit(requests.getFirst());
      written.forget();
      long logged = lab.logBytes();
      requests.subList(1, requests.size()).forEach(lab::submit);
      long rows = written.rows().size() / EFFECTS;
      long bytes = written.bytes() / EFFECTS;
      long log = (lab.logBytes() - logged) / EFFECTS;
      String found =
          written.writes()
              + " writes; an effect: "
              + rows
              + " rows, "
              + bytes
              + " bytes, "
              + log
              + " in the log";
      if (Boolean.getBoolean("writ.rows")) {
        print(written, rows);
        System.err.println(found);
      }
      assertTrue(rows <= 27 && bytes <= 4_000 && log <= 4_000, found);
    }
  }

  @Test
  void anEffectTakesLittleRoomOnceTablesAreMerged() {
    int effects = Integer.getInteger("writ.effects", 2_000);
    try (Lab lab = new Lab(home)) {
      for (int i = 0; i < 4; i++) {
        lab.requests("run-" + i, effects / 4).forEach(lab::submit);
      }
    }
    Map<String, Long> sizes = WrittenRows.compacted(Lab.config(home));
    long each = sizes.values().stream().mapToLong(n -> n).sum() / effects;
    if (Boolean.getBoolean("writ.rows")) {
      sizes.forEach((family, bytes) -> System.err.println(family + " " + bytes / effects));
      System.err.println(each + " bytes of tables for an effect");
    }
    assertTrue(each <= 2_500, each + " bytes");
  }

  private static void print(WrittenRows written, long rows) {
    List<WrittenRows.Written> all = written.rows();
    for (WrittenRows.Written row : all.subList((int) (all.size() - rows), all.size())) {
      System.err.printf(
          "%-10s %4d + %5d  %s = %s%n",
          row.family(),
          row.key().length,
          row.value().length,
          shown(row.key(), 90),
          shown(row.value(), 900));
    }
  }

  private static String shown(byte[] bytes, int max) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", ".");
    return text.length() > max ? text.substring(0, max) + "…" : text;
  }
}
