package dev.writ.bench;

import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * What was found for one step: medians, and the ratios of single rounds.
 *
 * @param ratios one for each round, sorted
 * @param cpuRatio the median ratio of processor times; none where the floor works in another
 *     process, or a slice is too short for that clock
 */
record Row(Step step, Cost measured, Cost floor, List<Double> ratios, Optional<Double> cpuRatio) {

  /** What one round gave. */
  record Round(Cost measured, Cost floor) {}

  static Row of(Step step, List<Round> rounds) {
    BenchTarget target = step.target();
    boolean sameProcess =
        rounds.stream().allMatch(r -> r.measured.cpuNs() > 0 && r.floor.cpuNs() > 0);
    return new Row(
        step,
        new Cost(median(rounds, r -> r.measured.wallNs()), median(rounds, r -> r.measured.cpuNs())),
        new Cost(median(rounds, r -> r.floor.wallNs()), median(rounds, r -> r.floor.cpuNs())),
        sorted(rounds, r -> target.ratio(r.measured.wallNs(), r.floor.wallNs())),
        sameProcess
            ? Optional.of(median(rounds, r -> target.ratio(r.measured.cpuNs(), r.floor.cpuNs())))
            : Optional.empty());
  }

  private static List<Double> sorted(List<Round> rounds, ToDoubleFunction<Round> number) {
    return rounds.stream().mapToDouble(number).sorted().boxed().toList();
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> number) {
    return median(sorted(rounds, number));
  }

  private static double median(List<Double> sorted) {
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }

  double least() {
    return ratios.getFirst();
  }

  double median() {
    return median(ratios);
  }

  double greatest() {
    return ratios.getLast();
  }

  /** By the median: single rounds on a busy machine say little. */
  boolean met() {
    return step.target().isMet(median());
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("step", step.name())
        .put("floor", step.floor())
        .put("measured_ns", Math.round(measured.wallNs()))
        .put("floor_ns", Math.round(floor.wallNs()))
        .put("measured_cpu_ns", Math.round(measured.cpuNs()))
        .put("floor_cpu_ns", Math.round(floor.cpuNs()))
        .put("ratio_min", new JsonValue.Num(least()))
        .put("ratio_median", new JsonValue.Num(median()))
        .put("ratio_max", new JsonValue.Num(greatest()))
        .putIfPresent("cpu_ratio_median", cpuRatio, JsonValue.Num::new)
        .put("rounds", ratios.size())
        .put("target", step.target().text())
        .put("met", met())
        .build();
  }
}
