package dev.writ.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Prints how long calls of tool packages take, at the median and in the tail, in turns. */
public final class ToolStarts {
  private ToolStarts() {}

  /**
   * @param arguments how many calls of each, 100 without; and which language, all without
   */
  public static void main(String[] arguments) throws IOException {
    int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100;
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.println(
        "| call | cold p50 / p95 / p99, ms | warm p50 / p95 / p99 | bare start p50 / p95 / p99 |"
            + " running p50 / p95 / p99 | cold : bare | warm : bare | warm : cold | warm :"
            + " running |");
    out.println("|---|---|---|---|---|---|---|---|---|");
    try (ToolCalls calls = ToolCalls.where(true)) {
      for (ToolCalls.Kind kind : calls.kinds()) {
        if (arguments.length < 2 || kind.name().equals(arguments[1])) {
          out.println(row(kind.name(), measured(kind, runs)));
        }
      }
    }
    System.exit(0);
  }

  private static double[][] measured(ToolCalls.Kind kind, int runs) {
    List<Runnable> works = List.of(kind.cold(), kind.warm(), kind.bare(), kind.running());
    double[][] ms = new double[works.size()][runs];
    for (int run = -3; run < runs; run++) {
      for (int i = 0; i < works.size(); i++) {
        kind.ready().run();
        long began = System.nanoTime();
        works.get(i).run();
        if (run >= 0) {
          ms[i][run] = (System.nanoTime() - began) / 1e6;
        }
      }
    }
    for (double[] one : ms) {
      Arrays.sort(one);
    }
    return ms;
  }

  private static String row(String name, double[][] ms) {
    List<String> cells = new ArrayList<>();
    cells.add(name);
    for (double[] one : ms) {
      cells.add(text("%.1f / %.1f / %.1f", at(one, 0.5), at(one, 0.95), at(one, 0.99)));
    }
    double warm = at(ms[1], 0.5);
    cells.add(text("%.1f", at(ms[0], 0.5) / at(ms[2], 0.5)));
    cells.add(text("%.2f", warm / at(ms[2], 0.5)));
    cells.add(text("%.2f", warm / at(ms[0], 0.5)));
    cells.add(text("%.0f", warm / at(ms[3], 0.5)));
    return "| " + String.join(" | ", cells) + " |";
  }

  private static double at(double[] sorted, double part) {
    return sorted[(int) Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
