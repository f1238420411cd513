package dev.writ.verify.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.crypto.SimulatedSignatures;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Kernel, ledger and recovery under one seeded scheduler, with crashes, failing disks and clocks
 * that go wrong ({@link Simulation}): afterwards the audit finds nothing, no impure effect ran
 * twice, whatever was acknowledged is there byte for byte, and whatever is known is answered.
 * {@code -Dwrit.seed=N} repeats a schedule, {@code -Dwrit.schedules=N} tries more, {@code
 * -Dwrit.simulation.s=N} as many as fit into N seconds.
 */
class WhateverHappensTheLedgerIsSoundTest {
  private static final Optional<Long> SEED = Optional.ofNullable(Long.getLong("writ.seed"));
  private static final int SCHEDULES = Integer.getInteger("writ.schedules", 12);
  private static final int SECONDS = Integer.getInteger("writ.simulation.s", 0);

  /** Lives of a short schedule. */
  private static final int FEW = 10;

  /** Together with the few that follow it reaches all that is asserted below. */
  private static final long FIRST = Long.getLong("writ.simulation.first", 115);

  private static final long STEP = Long.getLong("writ.simulation.step", 1);

  private final SignatureEngine before = SignatureEngines.current();

  @BeforeEach
  void useSimulatedSignatures() {
    SignatureEngines.use(new SimulatedSignatures());
  }

  @AfterEach
  void useRealSignatures() {
    SignatureEngines.use(before);
  }

  @Test
  void after_any_schedule() {
    Counts sum = new Counts();
    long begun = System.nanoTime();
    long cpuBegun = processorNanos();
    long end = begun + Duration.ofSeconds(SECONDS).toNanos();
    for (long seed = SEED.orElse(FIRST); goesOn(sum.schedules, end); seed += STEP) {
      Simulation.Result result = new Simulation(seed).run();
      assertThat(result.wrong()).as("writ.seed=" + seed).isEmpty();
      sum.add(result.counts());
    }
    double seconds = (System.nanoTime() - begun) / 1e9;
    double processor = (processorNanos() - cpuBegun) / 1e9;
    System.out.printf(
        "simulation: %.1f s, %.1f s of processor, %.0f crashes a second of processor; %s%n%s%n",
        seconds, processor, sum.allCrashes() / processor, sum, sum.outcomes);
    if (SEED.isEmpty()) {
      // The schedules reach what they are about.
      assertThat(sum.crashes.keySet())
          .contains("opening", "working")
          .contains("outcome LEDGER", "outcome KERNEL", "outcome AUDIT");
      assertThat(sum.faults.keySet()).contains("database", "descriptors OPEN", "clock");
      assertThat(sum.faults.keySet()).anyMatch(kind -> kind.endsWith(" SYNC"));
      assertThat(sum.inDoubt).isPositive();
      assertThat(sum.outcomes.keySet())
          .contains("submit ok", "repeat ok", "execute ok", "approve ok", "activate ok")
          .contains("put ok", "collect ok", "key ok", "twin ok")
          .contains("rules ok", "hold ok", "retain ok", "contents deleted")
          .contains("erase ok", "carry out ok", "carried out", "sealed");
    }
  }

  /** Of the whole process, its compiler's threads among it. */
  private static long processorNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  private static boolean goesOn(long schedules, long end) {
    return SEED.isPresent()
        ? schedules == 0
        : SECONDS > 0 ? System.nanoTime() < end : schedules < SCHEDULES;
  }

  @Test
  void a_seed_repeats_its_schedule() {
    new Simulation(3, FEW).run(); // a class that is being initialized lets nobody else come in
    Simulation.Result once = new Simulation(3, FEW).run();
    Simulation.Result again = new Simulation(3, FEW).run();
    assertThat(again.rows()).as("every row of the ledger").isEqualTo(once.rows());
    assertThat(again.counts()).hasToString(once.counts().toString());
    assertThat(again.counts().outcomes).isEqualTo(once.counts().outcomes);
  }

  @Test
  void real_signatures_make_the_same_log() {
    Simulation.Result simulated = new Simulation(5, FEW).run();
    SignatureEngines.use(before);
    Simulation.Result real = new Simulation(5, FEW).run();
    assertThat(real.wrong()).isEmpty();
    assertThat(real.root()).isPresent().isEqualTo(simulated.root());
    assertThat(real.counts()).hasToString(simulated.counts().toString());
  }
}
