package dev.writ.bench;

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param rounds in each of which every step and its floor have a slice; odd, for a true median
 * @param slice how long a step or a floor works at a time
 * @param warmUp processor time that each step and each floor has before that, so that all of them
 *     are compiled; zero for one slice
 * @param effectsBefore effects that are done before anything is measured: the kernel is much code,
 *     and what is measured is a server that has been running, not the compiler
 * @param effectsVerified effects of the run whose bundle is verified; 6 events each
 */
public record Plan(
    int rounds, Duration slice, Duration warmUp, int effectsBefore, int effectsVerified) {
  /** About seven minutes on an idle machine. */
  public static final Plan FULL =
      new Plan(11, Duration.ofMillis(200), Duration.ofMillis(800), 40_000, 16_667);

  /** About a minute on an idle machine. */
  public static final Plan QUICK =
      new Plan(5, Duration.ofMillis(60), Duration.ofMillis(150), 8_000, 400);
}
