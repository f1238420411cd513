package dev.writ.bench;

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param rounds in each of which every step and its floor have a slice; odd, for a true median
 * @param warmUps rounds before that count for nothing
 * @param slice how long a step or a floor works at a time
 */
record Plan(int rounds, int warmUps, Duration slice) {
  /** About two minutes. */
  static final Plan FULL = new Plan(13, 3, Duration.ofMillis(200));

  /** About twenty seconds. */
  static final Plan QUICK = new Plan(5, 2, Duration.ofMillis(60));
}
