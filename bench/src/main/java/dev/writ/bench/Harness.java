package dev.writ.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Measures steps in rounds. In each round every step and its floor work one directly after the
 * other, in changing order, so that what else the machine does meets both.
 */
final class Harness {
  private final Plan plan;

  Harness(Plan plan) {
    this.plan = plan;
  }

  /**
   * @param progress told the number of each round before it begins, from 1
   */
  List<Row> measure(List<Step> steps, IntConsumer progress) {
    List<List<Row.Round>> rounds = steps.stream().<List<Row.Round>>map(_ -> new ArrayList<>()).toList();
    for (int number = 1; number <= plan.warmUps() + plan.rounds(); number++) {
      progress.accept(number);
      for (int i = 0; i < steps.size(); i++) {
        Row.Round round = round(steps.get(i), number % 2 == 0);
        if (number > plan.warmUps()) {
          rounds.get(i).add(round);
        }
      }
    }
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      rows.add(Row.of(steps.get(i), rounds.get(i)));
    }
    return rows;
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
