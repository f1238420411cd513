package dev.writ.bench;

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param rounds in each of which every step and its floor have a slice; odd, for a true median
 * @param warmUps rounds before that count for nothing
 * @param slice how long a step or a floor works at a time
 * @param effectsBefore effects that are done before anything is measured: the kernel is much code,
 *     and what is measured is a server that has been running, not the compiler
 */
public record Plan(int rounds, int warmUps, Duration slice, int effectsBefore) {
  /** About two minutes on an idle machine. */
  public static final Plan FULL = new Plan(13, 2, Duration.ofMillis(200), 20_000);

  /** About twenty seconds on an idle machine. */
  public static final Plan QUICK = new Plan(5, 1, Duration.ofMillis(60), 8_000);
}
