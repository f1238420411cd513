package dev.writ.bench;

import dev.writ.canonicalize.json.JsonValue;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.TreeMap;

/** What {@link Growth} measured, as a table in Markdown, as JSON and as a plot. */
public final class GrowthReport {
  private static final List<String> TIMED =
      List.of(
          "start", "fsck", "audit", "export", "close", "verify", "replay", "report", "verify.mjs");
  private static final List<String> COLOURS =
      List.of(
          "#888888", "#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d",
          "#1f78b4");

  /** One number of effects; the parts by name, those that failed missing. */
  record Line(int effects, TreeMap<String, JsonValue.Obj> parts) {
    OptionalLong value(String part, String member) {
      JsonValue.Obj took = parts.get(part);
      return took != null && took.get(member) instanceof JsonValue.Num number
          ? OptionalLong.of((long) number.value())
          : OptionalLong.empty();
    }

    private String text(String part, String member, double unit, String form) {
      OptionalLong value = value(part, member);
      return value.isEmpty() ? "–" : String.format(Locale.ROOT, form, value.getAsLong() / unit);
    }
  }

  private final List<Line> lines;
  private final String disk;
  private final double load;

  GrowthReport(List<Line> lines, String disk, double load) {
    this.lines = List.copyOf(lines);
    this.disk = disk;
    this.load = load;
  }

  List<Line> lines() {
    return lines;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList(
            "growth",
            lines,
            line -> {
              var json = JsonValue.object().put("effects", line.effects());
              line.parts().forEach((part, took) -> json.put(part, took));
              return json.build();
            })
        .put("disk", disk)
        .put("load_after", new JsonValue.Num(load))
        .build();
  }

  /** The table, as it stands in bench/README.md. */
  public void print(PrintStream out) {
    out.print("| effects |");
    lines.forEach(line -> out.printf(Locale.ROOT, " %,d |", line.effects()));
    out.print("\n|---|" + "---:|".repeat(lines.size()) + "\n");
    row(out, "effects a second, 64 callers", "make", "rate", 1, "%.0f");
    row(out, "p50 of one caller, ms", "make", "p50_us", 1000, "%.2f");
    row(out, "p99 of one caller, ms", "make", "p99_us", 1000, "%.2f");
    row(out, "heap held, MiB", "make", "heap_kib", 1024, "%.0f");
    row(out, "disk, MiB", "make", "disk_bytes", 1 << 20, "%.0f");
    for (String part : TIMED) {
      row(out, part + ", s", part, "wall_ms", 1000, "%.1f");
      row(out, part + ", s of processor", part, "cpu_ms", 1000, "%.1f");
      row(out, part + ", peak MiB", part, "peak_kib", 1024, "%.0f");
    }
    out.printf(Locale.ROOT, "%nDisk %s, load %.1f at the end.%n", disk, load);
  }

  private void row(
      PrintStream out, String name, String part, String member, double unit, String form) {
    out.print("| " + name + " |");
    lines.forEach(line -> out.print(" " + line.text(part, member, unit, form) + " |"));
    out.println();
  }

  /** Processor time for each effect over the number of effects, both logarithmic, as an SVG. */
  public String plot() {
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 400\""
            + " font-family=\"sans-serif\" font-size=\"12\">\n"
            + "<text x=\"60\" y=\"18\">processor time for each effect, µs; flat is"
            + " linear</text>\n");
    for (int exponent = 0; exponent <= 5; exponent++) {
      svg.append(
          String.format(
              Locale.ROOT,
              "<path d=\"M60 %1$.0fH560\" stroke=\"#ddd\"/><text x=\"8\""
                  + " y=\"%1$.0f\">%2$d</text>%n",
              y(Math.pow(10, exponent)),
              (long) Math.pow(10, exponent)));
    }
    for (Line line : lines) {
      svg.append(
          String.format(
              Locale.ROOT,
              "<text x=\"%.0f\" y=\"392\" text-anchor=\"middle\">%,d</text>%n",
              x(line.effects()),
              line.effects()));
    }
    for (int i = 0; i < TIMED.size(); i++) {
      String part = TIMED.get(i);
      StringBuilder points = new StringBuilder();
      for (Line line : lines) {
        line.value(part, "cpu_ms")
            .ifPresent(ms ->
                points.append(
                    String.format(
                        Locale.ROOT,
                        "%.1f,%.1f ",
                        x(line.effects()),
                        y(Math.max(1, ms * 1000.0 / line.effects())))));
      }
      svg.append(
          String.format(
              Locale.ROOT,
              "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>"
                  + "<text x=\"580\" y=\"%d\" fill=\"%s\">%s</text>%n",
              points.toString().strip(),
              COLOURS.get(i),
              60 + 20 * i,
              COLOURS.get(i),
              part));
    }
    return svg.append("</svg>\n").toString();
  }

  private static double x(double effects) {
    return 60 + (Math.log10(effects) - 3) * 160;
  }

  private static double y(double micros) {
    return 370 - Math.log10(micros) * 66;
  }
}
