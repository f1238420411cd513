package dev.writ.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Measures steps in rounds, after all have warmed up. In each round every step and its floor work
 * one directly after the other, in changing order, so that what else the machine does meets both.
 */
final class Harness {
  private final Plan plan;

  Harness(Plan plan) {
    this.plan = plan;
  }

  /**
   * @param progress gets the number of each round before it begins, 0 for warming up
   */
  List<Row> measure(List<Step> steps, IntConsumer progress) {
    List<List<Row.Round>> rounds =
        steps.stream().<List<Row.Round>>map(_ -> new ArrayList<>()).toList();
    progress.accept(0);
    for (Step step : steps) {
      warmUp(step.measured());
      warmUp(step.base());
    }
    for (int number = 1; number <= plan.rounds(); number++) {
      progress.accept(number);
      for (int i = 0; i < steps.size(); i++) {
        rounds.get(i).add(round(steps.get(i), number % 2 == 0));
      }
    }
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      rows.add(Row.of(steps.get(i), rounds.get(i)));
    }
    return rows;
  }

  /**
   * Ends by processor time, since elapsed time says little on a busy machine; three times as much
   * elapsed time is the limit for a step that mostly waits for the disk.
   */
  private void warmUp(Step.Slice slice) {
    Cost.Start start = Cost.Start.now();
    do {
      slice.cost();
    } while (start.cpuNanos() < plan.warmUp().toNanos()
        && start.wallNanos() < 3 * plan.warmUp().toNanos());
  }

  private static Row.Round round(Step step, boolean floorFirst) {
    if (floorFirst) {
      Cost floor = step.base().cost();
      return new Row.Round(step.measured().cost(), floor);
    }
    Cost measured = step.measured().cost();
    return new Row.Round(measured, step.base().cost());
  }
}
