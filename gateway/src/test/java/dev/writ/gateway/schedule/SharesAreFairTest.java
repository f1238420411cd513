package dev.writ.gateway.schedule;

import static dev.writ.gateway.schedule.Sim.MS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.Quotas.Quota;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who gets the next slot, over random arrivals and by hand; {@code -Dwrit.seed} repeats one. */
class SharesAreFairTest {
  private static final int ROUNDS = Integer.getInteger("writ.rounds", 25);

  private static Random random(String what) {
    long seed = Long.getLong("writ.seed", 20261122L);
    System.out.println(what + ": writ.seed=" + seed);
    return new Random(seed);
  }

  private static String name(int number) {
    return "t" + number;
  }

  private static String resourceClass(Random random) {
    return ResourceClasses.NAMES.get(random.nextInt(3));
  }

  /** At most what the class allows, and at least nothing. */
  private static long takes(Random random, String resourceClass) {
    long most = Sim.CLASSES.of(resourceClass).orElseThrow().wallMs() * MS;
    return random.nextInt(8) == 0 ? 0 : random.nextLong(most + 1);
  }

  private static EngineSettings anySettings(Random random) {
    TreeMap<String, Quota> exceptions = new TreeMap<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      exceptions.put(name(random.nextInt(6)), new Quota(random.nextInt(5), 1 + random.nextInt(5)));
    }
    int length = random.nextInt(40);
    return Sim.settings(
        1 + random.nextInt(6),
        length,
        random.nextInt(length + 1),
        Sim.quotas(1 + random.nextInt(6), 1 + random.nextInt(3), exceptions));
  }

  /** Arrivals, ends, callers who give up, and other policies; the books are checked each time. */
  private static Sim anything(Random random) {
    Sim sim = new Sim(anySettings(random));
    for (int i = 0; i < 400; i++) {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> sim.step();
        case 3 -> {
          List<QueuedCall> waiting = sim.waitingCalls();
          if (!waiting.isEmpty()) {
            sim.giveUp(waiting.get(random.nextInt(waiting.size())));
          }
        }
        case 4 -> sim.until(sim.now + random.nextLong(20 * MS));
        case 5 -> {
          if (random.nextInt(10) == 0) {
            sim.change(anySettings(random));
          }
        }
        default -> {
          String resourceClass = resourceClass(random);
          sim.arrive(
              name(random.nextInt(6)),
              "s" + random.nextInt(3),
              resourceClass,
              takes(random, resourceClass));
        }
      }
    }
    return sim;
  }

  @Test
  void noSlotIsIdleWhileSomebodyMayRunAndNothingIsEverAboveItsLimit() {
    Random random = random("anything");
    for (int round = 0; round < ROUNDS; round++) {
      Sim sim = anything(random);
      sim.change(Sim.settings(4, 1_000, 1_000, Sim.quotas(4, 1, Map.of())));
      sim.runOut();
      assertThat(sim.queue().waiting()).as("who waits and may run does run in the end").isZero();
      assertThat(sim.queue().running()).isZero();
      assertThat(sim.queue().remembered()).as("nothing is kept of who is gone").isZero();
    }
  }

  @Test
  void theSameEventsGiveTheSameTurns() {
    long seed = random("twice").nextLong();
    assertThat(anything(new Random(seed)).turns)
        .isNotEmpty()
        .isEqualTo(anything(new Random(seed)).turns);
  }

  /**
   * All tenants want more than there is, all the time. The bound is the one that {@link FairQueue}
   * proves: over any span in which two of them may both run, what they get, each by its weight,
   * differs by at most 2B = 2·(2R + 1)·C/w. So each gets its share of all slot time W, less a
   * constant: had_i ≥ w_i·W/Σw − w_i·2B.
   */
  @Test
  void whileAllWantMoreEachGetsItsShareLessAConstant() {
    Random random = random("shares");
    double greatest = 0;
    for (int round = 0; round < ROUNDS; round++) {
      int tenants = 2 + random.nextInt(4);
      int slots = 1 + random.nextInt(6);
      TreeMap<String, Quota> weights = new TreeMap<>();
      for (int i = 0; i < tenants; i++) {
        weights.put(name(i), new Quota(slots, 1 + random.nextInt(4)));
      }
      Sim sim = new Sim(Sim.settings(slots, 100_000, 10_000, Sim.quotas(1, 1, weights)));
      sim.fair = true;
      int each = 400;
      for (int i = 0; i < tenants * each; i++) {
        String own = i % tenants % 2 == 0 ? "small" : resourceClass(random); // some hold slots long
        sim.arrive(name(i % tenants), "s", own, takes(random, own));
      }
      while (weights.keySet().stream().allMatch(t -> sim.queue().waitingOf(t) > 0)) {
        sim.step();
      }

      double longest = Math.max(sim.longestNs, 160 * MS);
      double b = (2 * sim.mostOfOne + 1) * longest; // by the weight 1 of the least
      assertThat(sim.compared).isGreaterThan(100);
      assertThat(sim.greatestDifference).as("round " + round).isLessThanOrEqualTo(2 * b);
      greatest = Math.max(greatest, sim.greatestDifference / (2 * b));
      double all =
          weights.keySet().stream().mapToDouble(t -> weight(weights, t) * sim.had(t)).sum();
      double sum = weights.keySet().stream().mapToDouble(t -> weight(weights, t)).sum();
      for (String tenant : weights.keySet()) {
        double weight = weight(weights, tenant);
        assertThat(weight * sim.had(tenant))
            .as("round " + round + ", " + tenant + " of " + weights)
            .isGreaterThanOrEqualTo(weight / sum * all - weight * 2 * b);
      }
    }
    System.out.printf("the greatest difference was %.3f of the bound%n", greatest);
  }

  private static int weight(TreeMap<String, Quota> weights, String tenant) {
    return weights.get(tenant).weight();
  }

  /**
   * In the long run the constant is nothing: shares are as the weights, whoever holds slots long.
   */
  @ParameterizedTest
  @CsvSource({"1, 1, 1, 1", "3, 1, 1, 1", "1, 1, 9, 1", "2, 5, 9, 3", "1, 4, 1, 10"})
  void overALongTimeSlotTimeIsAsTheWeights(int weightA, int weightB, int takesA, int takesB) {
    Sim sim =
        new Sim(
            Sim.settings(
                4,
                100_000,
                100_000,
                Sim.quotas(4, 1, Map.of("a", new Quota(4, weightA), "b", new Quota(4, weightB)))));
    for (int i = 0; i < 20_000; i++) {
      sim.arrive("a", "s", "small", takesA * MS);
      sim.arrive("b", "s", "small", takesB * MS);
    }
    sim.until(5_000 * MS);

    assertThat(sim.queue().waitingOf("a")).isPositive();
    assertThat(sim.queue().waitingOf("b")).isPositive();
    double share = sim.had("a") * weightA / (sim.had("a") * weightA + sim.had("b") * weightB);
    double wanted = (double) weightA / (weightA + weightB);
    double jain = Math.pow(sim.had("a") + sim.had("b"), 2) / 2;
    jain /= Math.pow(sim.had("a"), 2) + Math.pow(sim.had("b"), 2);
    System.out.printf("Jain index of slot time by weight: %.6f%n", jain);
    assertThat(jain).isGreaterThan(0.9999);
    assertThat(share).isBetween(wanted - 0.01, wanted + 0.01);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8})
  void aFloodOfTenThousandDelaysAnothersCallByOneSlotsTurn(int slots) {
    Sim sim = new Sim(Sim.settings(slots, 20_000, 20_000, Sim.quotas(slots, 1, Map.of())));
    for (int i = 0; i < 10_000; i++) {
      sim.arrive("flood", "s" + i % 7, "small", (1 + i % 10) * MS);
    }
    for (int call = 0; call < 50; call++) {
      sim.until(sim.now + 13 * MS);
      int before = sim.turns.size();
      sim.arrive("quiet", "s", "small", MS);
      assertThat(sim.turns).as("every slot is taken").hasSize(before);
      sim.step();
      assertThat(sim.turns.get(before)).as("the next slot that is free").isEqualTo("quiet");
    }
    assertThat(sim.queue().waitingOf("flood")).isPositive();
  }

  @Test
  void soDoManyFloodsAtOnceForSomebodyNew() {
    Random random = random("floods");
    Sim sim = new Sim(Sim.settings(3, 50_000, 20_000, Sim.quotas(3, 1, Map.of())));
    for (int i = 0; i < 10_000; i++) {
      String resourceClass = resourceClass(random);
      sim.arrive("f" + i % 9, "s", resourceClass, takes(random, resourceClass));
    }
    for (int call = 0; call < 30; call++) {
      sim.until(sim.now + 50 * MS);
      int before = sim.turns.size();
      sim.arrive("new" + call, "s", "large", MS);
      sim.step();
      assertThat(sim.turns.get(before)).isEqualTo("new" + call);
    }
  }

  @Test
  void whoRanAloneIsNotMadeToPayForItAndWhoWasAwayHasNotSavedUp() {
    Sim sim = new Sim(Sim.settings(1, 1_000, 1_000, Sim.quotas(1, 1, Map.of())));
    for (int i = 0; i < 200; i++) {
      sim.arrive("early", "s", "small", 10 * MS);
    }
    sim.until(1_000 * MS); // a hundred calls of it ran, while nobody else was there
    int before = sim.turns.size();
    for (int i = 0; i < 50; i++) {
      sim.arrive("late", "s", "small", 10 * MS);
    }
    sim.until(1_400 * MS);
    List<String> since = sim.turns.subList(before, sim.turns.size());
    assertThat(since.stream().filter("late"::equals).count()).isBetween(19L, 21L);
    assertThat(since.stream().filter("early"::equals).count()).isBetween(19L, 21L);
  }

  @Test
  void aQuotaGivesNoCreditForWhatItKeptBack() {
    EngineSettings before =
        Sim.settings(4, 9_000, 9_000, Sim.quotas(4, 1, Map.of("kept", new Quota(1, 1))));
    Sim sim = new Sim(before);
    for (int i = 0; i < 2_000; i++) {
      sim.arrive("kept", "s", "small", 10 * MS);
      sim.arrive("other", "s", "small", 10 * MS);
    }
    sim.until(1_000 * MS);
    assertThat(sim.had("kept")).isEqualTo(1_000.0 * MS);
    assertThat(sim.had("other")).isEqualTo(3_000.0 * MS);

    sim.change(Sim.settings(4, 9_000, 9_000, Sim.quotas(4, 1, Map.of())));
    double kept = sim.had("kept");
    double other = sim.had("other");
    sim.until(2_000 * MS);
    assertThat(sim.had("kept") - kept).isBetween(1_900.0 * MS, 2_100.0 * MS);
    assertThat(sim.had("other") - other).isBetween(1_900.0 * MS, 2_100.0 * MS);
  }

  /** What calls are expected to take is counted at once, so nobody takes all of them in a burst. */
  @Test
  void slotsThatAreFreeAtOnceAreSharedAtOnce() {
    Sim sim = new Sim(Sim.settings(1, 100, 100, Sim.quotas(8, 1, Map.of())));
    sim.arrive("before", "s", "small", 5 * MS);
    for (int i = 0; i < 20; i++) {
      sim.arrive("a", "s", "small", 10 * MS);
    }
    for (int i = 0; i < 20; i++) {
      sim.arrive("b", "s", "small", 10 * MS);
    }
    sim.change(Sim.settings(9, 100, 100, Sim.quotas(8, 1, Map.of())));
    assertThat(sim.queue().runningOf("a")).isEqualTo(4);
    assertThat(sim.queue().runningOf("b")).isEqualTo(4);
  }

  @Test
  void withinATenantSubjectsTakeTurnsAndEachKeepsItsOrder() {
    FairQueue queue = new FairQueue();
    EngineSettings one = Sim.settings(1, 100, 100, Sim.quotas(1, 1, Map.of()));
    QueuedCall runs = queue.enter(Sim.ticket("t", "x", "small"), one, 0);
    assertThat(queue.next(one, 0)).containsSame(runs);
    List<QueuedCall> calls =
        List.of(
            queue.enter(Sim.ticket("t", "greedy", "small"), one, 0),
            queue.enter(Sim.ticket("t", "greedy", "small"), one, 0),
            queue.enter(Sim.ticket("t", "greedy", "small"), one, 0),
            queue.enter(Sim.ticket("t", "modest", "small"), one, 0),
            queue.enter(Sim.ticket("t", "modest", "small"), one, 0));
    for (int index : new int[] {0, 3, 1, 4, 2}) {
      queue.finish(runs, one, 1);
      runs = queue.next(one, 1).orElseThrow();
      assertThat(runs).isSameAs(calls.get(index));
    }
  }
}
