package dev.writ.bench;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Arrays;

/**
 * What was found for one step.
 *
 * @param measuredNs median time of one operation, in nanoseconds
 * @param floorNs the same of the floor
 * @param ratios one for each round, sorted
 */
record Row(Step step, double measuredNs, double floorNs, double[] ratios) {

  static Row of(Step step, double[] measured, double[] floor) {
    double[] ratios = new double[measured.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = step.target().ratio(measured[i], floor[i]);
    }
    return new Row(step, median(measured), median(floor), sorted(ratios));
  }

  private static double[] sorted(double[] values) {
    double[] copy = values.clone();
    Arrays.sort(copy);
    return copy;
  }

  private static double median(double[] values) {
    double[] sorted = sorted(values);
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  double least() {
    return ratios[0];
  }

  double median() {
    return median(ratios);
  }

  double greatest() {
    return ratios[ratios.length - 1];
  }

  /** By the median: single rounds on a busy machine say little. */
  boolean met() {
    return step.target().isMet(median());
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("step", step.name())
        .put("floor", step.floor())
        .put("measured_ns", Math.round(measuredNs))
        .put("floor_ns", Math.round(floorNs))
        .put("ratio_min", new JsonValue.Num(least()))
        .put("ratio_median", new JsonValue.Num(median()))
        .put("ratio_max", new JsonValue.Num(greatest()))
        .put("rounds", ratios.length)
        .put("target", step.target().text())
        .put("met", met())
        .build();
  }
}
