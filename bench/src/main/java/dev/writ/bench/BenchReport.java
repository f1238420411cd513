package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Rows with what they were measured on. */
public final class BenchReport {
  private final List<Row> rows;
  private final Plan plan;
  private final String disk;
  private final double loadBefore;

  BenchReport(List<Row> rows, Plan plan, String disk, double loadBefore) {
    this.rows = List.copyOf(rows);
    this.plan = plan;
    this.disk = disk;
    this.loadBefore = loadBefore;
  }

  List<Row> rows() {
    return rows;
  }

  static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  static String diskOf(Path directory) {
    try {
      return Files.getFileStore(directory).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  private static int cores() {
    return Runtime.getRuntime().availableProcessors();
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("rows", rows, Row::toJson)
        .put("rounds", plan.rounds())
        .put("slice_ms", plan.slice().toMillis())
        .put("cores", cores())
        .put("java", Runtime.version().toString())
        .put("fastest_engine", SignatureEngines.fastest().description())
        .put("disk", disk)
        .put("load_before", new JsonValue.Num(loadBefore))
        .build();
  }

  /** The table, for people. */
  public void print(PrintStream out) {
    out.printf(
        Locale.ROOT,
        "%d cores (load %.1f before), Java %s, %s, %d rounds of %d ms%n%n",
        cores(),
        loadBefore,
        Runtime.version(),
        disk,
        plan.rounds(),
        plan.slice().toMillis());
    String line = "%-37s %-46s %9s %9s %6s %6s %6s %6s  %-13s %s%n";
    out.printf(
        Locale.ROOT,
        line,
        "step",
        "against",
        "ours µs",
        "its µs",
        "min",
        "median",
        "max",
        "cpu",
        "target",
        "met");
    for (Row row : rows) {
      out.printf(
          Locale.ROOT,
          line,
          row.step().name(),
          row.step().floor(),
          micros(row.measured()),
          micros(row.floor()),
          number(row.least()),
          number(row.median()),
          number(row.greatest()),
          row.cpuRatio().map(BenchReport::number).orElse("–"),
          row.step().target().text(),
          row.met() ? "yes" : "NO");
    }
    long met = rows.stream().filter(Row::met).count();
    out.printf(Locale.ROOT, "%n%d of %d targets met, by the median.%n", met, rows.size());
  }

  private static String micros(Cost cost) {
    double micros = cost.wallNs() / 1000;
    return String.format(Locale.ROOT, micros < 100 ? "%.2f" : "%.0f", micros);
  }

  private static String number(double ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio);
  }
}
