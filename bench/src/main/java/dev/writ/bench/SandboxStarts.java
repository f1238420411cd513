package dev.writ.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Prints how long starts take, at the median and in the tail: ours, raw and bare, in turns. */
public final class SandboxStarts {
  private SandboxStarts() {}

  /**
   * @param arguments how many runs of each; 200 without
   */
  public static void main(String[] arguments) throws IOException {
    int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.println(
        "| start | ours p50 / p95 / p99, ms | raw p50 / p95 / p99 | bare p50 | ours : raw | ours :"
            + " bare |");
    out.println("|---|---|---|---|---|---|");
    try (SandboxSteps steps = SandboxSteps.where(true)) {
      for (SandboxSteps.Start start : steps.starts()) {
        List<Runnable> works = List.of(start.ours(), start.raw(), start.bare());
        double[][] ms = new double[works.size()][runs];
        for (int run = -10; run < runs; run++) {
          for (int i = 0; i < works.size(); i++) {
            long began = System.nanoTime();
            works.get(i).run();
            if (run >= 0) {
              ms[i][run] = (System.nanoTime() - began) / 1e6;
            }
          }
        }
        out.println(row(start.name(), ms));
      }
    }
  }

  private static String row(String name, double[][] ms) {
    List<String> cells = new ArrayList<>();
    for (double[] one : ms) {
      Arrays.sort(one);
    }
    cells.add(name.replace("start of ", ""));
    cells.add(text("%.1f / %.1f / %.1f", at(ms[0], 0.5), at(ms[0], 0.95), at(ms[0], 0.99)));
    cells.add(text("%.1f / %.1f / %.1f", at(ms[1], 0.5), at(ms[1], 0.95), at(ms[1], 0.99)));
    cells.add(text("%.1f", at(ms[2], 0.5)));
    cells.add(text("%.2f", at(ms[0], 0.5) / at(ms[1], 0.5)));
    cells.add(text("%.1f", at(ms[0], 0.5) / at(ms[2], 0.5)));
    return "| " + String.join(" | ", cells) + " |";
  }

  private static double at(double[] sorted, double part) {
    return sorted[(int) Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
