package dev.writ.executor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Kernel, ledger and recovery under one seeded scheduler, with crashes, failing writes and jumps of
 * the clock ({@link Simulation}): afterwards the audit finds nothing, no impure effect ran twice,
 * every acknowledged receipt is there byte for byte, and whatever is known is answered. {@code
 * -Dwrit.seed=N} repeats a schedule, {@code -Dwrit.schedules=N} tries more.
 */
class WhateverHappensTheLedgerIsSoundTest {
  private static final int SCHEDULES = Integer.getInteger("writ.schedules", 12);

  @Test
  void after_any_schedule() {
    Long one = Long.getLong("writ.seed");
    long first = one == null ? 1 : one;
    long last = one == null ? SCHEDULES : one;
    Simulation.Counts sum = new Simulation.Counts();
    TreeMap<String, Long> outcomes = new TreeMap<>();
    long begun = System.nanoTime();
    for (long seed = first; seed <= last; seed++) {
      Simulation.Result result = new Simulation(seed).run();
      assertThat(result.wrong()).as("writ.seed=" + seed).isEmpty();
      sum.steps += result.counts().steps;
      sum.crashes += result.counts().crashes;
      sum.failedWrites += result.counts().failedWrites;
      sum.jumps += result.counts().jumps;
      sum.calls += result.counts().calls;
      sum.events += result.counts().events;
      sum.inDoubt += result.counts().inDoubt;
      sum.acknowledged += result.counts().acknowledged;
      result.counts().outcomes.forEach((what, count) -> outcomes.merge(what, count, Long::sum));
    }
    System.out.printf(
        "%d schedules: %d calls, %d steps, %d crashes, %d failed writes, %d jumps, %d events, %d"
            + " acknowledged, %d in doubt; %d ms%n%s%n",
        last - first + 1,
        sum.calls,
        sum.steps,
        sum.crashes,
        sum.failedWrites,
        sum.jumps,
        sum.events,
        sum.acknowledged,
        sum.inDoubt,
        (System.nanoTime() - begun) / 1_000_000,
        outcomes);
    if (one == null) {
      // The schedules reach what they are about.
      assertThat(sum.crashes).isPositive();
      assertThat(sum.failedWrites).isPositive();
      assertThat(sum.inDoubt).isPositive();
      assertThat(outcomes.keySet())
          .contains("submit ok", "repeat ok", "execute ok", "approve ok", "activate ok");
    }
  }

  @Test
  void a_seed_repeats_its_schedule() {
    new Simulation(3).run(); // a class that is being initialized lets nobody else come in
    Simulation.Result once = new Simulation(3).run();
    Simulation.Result again = new Simulation(3).run();
    assertThat(again.root()).isEqualTo(once.root());
    assertThat(again.counts().outcomes).isEqualTo(once.counts().outcomes);
    assertThat(again.counts().steps).isEqualTo(once.counts().steps);
  }
}
