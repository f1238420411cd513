package dev.writ.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class GrowthIsToldTest {
  private static GrowthReport.Line line(int effects, long verifyMs) {
    TreeMap<String, JsonValue.Obj> parts = new TreeMap<>();
    parts.put(
        "verify",
        JsonValue.object()
            .put("wall_ms", verifyMs)
            .put("cpu_ms", 2 * verifyMs)
            .put("peak_kib", 204_800)
            .build());
    return new GrowthReport.Line(effects, parts);
  }

  private static final GrowthReport REPORT =
      new GrowthReport(List.of(line(1_000, 1_500), line(10_000, 15_000)), "ext4", 0.5);

  @Test
  void aPartThatFailedHasNoFigureAndTheOthersHaveTheirs() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    REPORT.print(new PrintStream(out, true, StandardCharsets.UTF_8));
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains(
            "| effects | 1,000 | 10,000 |",
            "| verify, s | 1.5 | 15.0 |",
            "| verify, s of processor | 3.0 | 30.0 |",
            "| verify, peak MiB | 200 | 200 |",
            "| replay, peak MiB | – | – |");
  }

  @Test
  void costThatGrowsAsTheWorkDoesIsAFlatLineInThePlot() {
    assertThat(REPORT.plot()).contains("<polyline points=\"60.0,140.5 220.0,140.5\"");
  }
}
