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
   * @param progress told the number of each round before it begins, from 0
   */
  List<Row> measure(List<Step> steps, IntConsumer progress) {
    double[][] measured = new double[steps.size()][plan.rounds()];
    double[][] floors = new double[steps.size()][plan.rounds()];
    for (int round = -plan.warmUps(); round < plan.rounds(); round++) {
      progress.accept(round + plan.warmUps());
      for (int i = 0; i < steps.size(); i++) {
        Step step = steps.get(i);
        double floor = 0;
        if (round % 2 == 0) {
          floor = step.base().nanosPerOperation();
        }
        double time = step.measured().nanosPerOperation();
        if (round % 2 != 0) {
          floor = step.base().nanosPerOperation();
        }
        if (round >= 0) {
          measured[i][round] = time;
          floors[i][round] = floor;
        }
      }
    }
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      rows.add(Row.of(steps.get(i), measured[i], floors[i]));
    }
    return rows;
  }
}
