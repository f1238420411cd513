package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.tools.language.PoolSizing.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The arithmetic of the pool, with the time as a number. */
class ThePoolKeepsItsBudgetTest {
  private static final PoolName POOL = new PoolName("python", "small");
  private static final PoolName OTHER = new PoolName("node", "small");
  private static final int HISTORIES = Integer.getInteger("writ.histories", 100);

  /** What a host would do with the steps, which may take long, and what must hold meanwhile. */
  private static final class World {
    final PoolSettings settings;
    final PoolSizing<String> sizing;
    final Random random;
    final TreeMap<Long, String> alive = new TreeMap<>();
    final TreeMap<Long, Long> born = new TreeMap<>();
    final TreeMap<String, Long> called = new TreeMap<>();
    final TreeSet<Long> told = new TreeSet<>();
    final TreeSet<Long> starting = new TreeSet<>();
    long now = 1_000_000;

    World(long seed) {
      random = new Random(seed);
      settings =
          new PoolSettings(
              random.nextInt(20), 1 + random.nextInt(4), 60_000, 1 + random.nextInt(40_000));
      sizing = new PoolSizing<>(settings);
    }

    static long bytes(String key) {
      return 1 + key.charAt(0) - 'a';
    }

    void steps(List<Step<String>> steps) {
      for (Step<String> step : steps) {
        switch (step) {
          case Step.Start<String>(long id, String key) -> {
            assertThat(called).as("nobody asked").containsKey(key);
            assertThat(now - called.get(key)).isLessThanOrEqualTo(settings.maxIdleMs());
            assertThat(alive.put(id, key)).isNull();
            born.put(id, now);
            starting.add(id);
          }
          case Step.End<String>(long id) -> {
            assertThat(alive).containsKey(id);
            assertThat(told.add(id)).as("told twice").isTrue();
          }
        }
      }
    }

    void call(String key) {
      called.put(key, now);
      OptionalLong id = sizing.take(key, POOL, bytes(key), now);
      if (id.isPresent()) {
        long taken = id.getAsLong();
        assertThat(alive.remove(taken)).as("another's, or taken before").isEqualTo(key);
        assertThat(starting).doesNotContain(taken);
        assertThat(told).doesNotContain(taken);
        assertThat(now - born.get(taken)).isLessThanOrEqualTo(settings.maxAgeMs());
      }
    }

    void something() {
      now += random.nextInt(random.nextInt(10) == 0 ? 30_000 : 500);
      List<Long> ids = new ArrayList<>(alive.keySet());
      long id = ids.isEmpty() ? -1 : ids.get(random.nextInt(ids.size()));
      switch (random.nextInt(6)) {
        case 0, 1 -> call(String.valueOf((char) ('a' + random.nextInt(5))));
        case 2 -> {
          if (starting.remove(id)) {
            sizing.ready(id);
          }
        }
        case 3 -> {
          if (told.contains(id) || random.nextInt(10) == 0) {
            starting.remove(id);
            alive.remove(id);
            sizing.gone(id, now);
          }
        }
        case 4 -> steps(sizing.steps(now));
        default -> {
          if (random.nextInt(20) == 0) {
            String key = String.valueOf((char) ('a' + random.nextInt(5)));
            steps(sizing.drop(key::equals));
            assertThat(sizing.take(key, POOL, bytes(key), now)).isEmpty();
            called.put(key, now);
          }
        }
      }
    }

    void mustHold() {
      long all = alive.values().stream().mapToLong(World::bytes).sum();
      assertThat(sizing.bytes()).isEqualTo(all);
      assertThat(all).isLessThanOrEqualTo(settings.budgetBytes());
      assertThat(sizing.starting()).isLessThanOrEqualTo(PoolSizing.STARTS_MAX);
      TreeMap<String, Integer> kinds = new TreeMap<>();
      alive.forEach((id, key) -> {
        if (!told.contains(id)) {
          kinds.merge(key, 1, Integer::sum);
        }
      });
      kinds.forEach((key, n) -> assertThat(n).as(key).isLessThanOrEqualTo(settings.perKey()));
    }
  }

  @Test
  void whateverHappens() {
    long seed = Long.getLong("writ.seed", System.nanoTime());
    System.out.println("ThePoolKeepsItsBudgetTest: -Dwrit.seed=" + seed);
    for (int i = 0; i < HISTORIES; i++) {
      World world = new World(seed + i);
      try {
        for (int step = 0; step < 500; step++) {
          world.something();
          world.mustHold();
        }
        world.now += world.settings.maxIdleMs() + world.settings.maxAgeMs() + 1;
        world.steps(world.sizing.steps(world.now));
        assertThat(world.told).as("nobody waits for ever").containsAll(world.alive.keySet());
      } catch (AssertionError e) {
        throw new AssertionError("-Dwrit.seed=" + (seed + i), e);
      }
    }
  }

  private static final PoolSettings TWO = new PoolSettings(10, 2, 60_000, 30_000);

  private static List<Long> started(List<Step<String>> steps) {
    return steps.stream().filter(s -> s instanceof Step.Start).map(Step::id).toList();
  }

  private static List<Long> ended(List<Step<String>> steps) {
    return steps.stream().filter(s -> s instanceof Step.End).map(Step::id).toList();
  }

  @Test
  void aCallAsksForTheNextAndManyForMore() {
    PoolSizing<String> sizing = new PoolSizing<>(TWO);
    assertThat(sizing.steps(0)).isEmpty();
    assertThat(sizing.take("a", POOL, 1, 0)).isEmpty();
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    assertThat(sizing.steps(0)).isEmpty();
    assertThat(sizing.take("a", POOL, 1, 1)).as("it has only been started").isEmpty();
    assertThat(started(sizing.steps(1))).containsExactly(2L);
    sizing.ready(1);
    sizing.ready(2);
    assertThat(sizing.take("b", POOL, 1, 2)).isEmpty();
    assertThat(sizing.take("a", POOL, 1, 2)).hasValue(1);
    assertThat(sizing.take("a", POOL, 1, 2)).hasValue(2);
    assertThat(sizing.take("a", POOL, 1, 2)).isEmpty();
  }

  @Test
  void whatNobodyCallsAnyMoreMakesRoomAndWhatIsInUseDoesNot() {
    PoolSizing<String> sizing = new PoolSizing<>(TWO);
    sizing.take("a", POOL, 8, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    sizing.ready(1);
    sizing.take("b", POOL, 8, 1_000);
    assertThat(sizing.steps(1_000)).as("both are in use").isEmpty();
    sizing.take("b", POOL, 8, 1 + PoolSizing.WINDOW_MS);
    assertThat(ended(sizing.steps(1 + PoolSizing.WINDOW_MS))).containsExactly(1L);
    assertThat(sizing.steps(1 + PoolSizing.WINDOW_MS)).as("until it is gone").isEmpty();
    sizing.gone(1, 1 + PoolSizing.WINDOW_MS);
    assertThat(started(sizing.steps(1 + PoolSizing.WINDOW_MS))).containsExactly(2L);
    sizing.ready(2);
    assertThat(sizing.steps(25_000)).as("nor does it go back and forth").isEmpty();
    sizing.take("c", POOL, 11, 2 + PoolSizing.WINDOW_MS);
    assertThat(sizing.steps(40_000)).as("nobody goes for what will never fit").isEmpty();
  }

  @Test
  void whatDoesNotStartIsLeftAloneForAWhile() {
    PoolSizing<String> sizing = new PoolSizing<>(TWO);
    sizing.take("a", POOL, 1, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    sizing.gone(1, 100);
    for (long at = 100; at < 30_100; at += 5_000) {
      sizing.take("a", POOL, 1, at);
      assertThat(sizing.steps(at)).isEmpty();
    }
    assertThat(started(sizing.steps(30_100))).isNotEmpty();
  }

  @Test
  void whatTakesTooLongToStartIsEnded() {
    PoolSizing<String> sizing = new PoolSizing<>(new PoolSettings(10, 1, 600_000, 600_000));
    sizing.take("a", POOL, 1, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    assertThat(sizing.steps(PoolSizing.START_MS_MAX)).isEmpty();
    assertThat(ended(sizing.steps(PoolSizing.START_MS_MAX + 1))).containsExactly(1L);
    sizing.ready(1);
    assertThat(sizing.take("a", POOL, 1, PoolSizing.START_MS_MAX + 2)).isEmpty();
  }

  @Test
  void ageAndIdleTimeEnd() {
    PoolSizing<String> sizing = new PoolSizing<>(new PoolSettings(10, 1, 50_000, 30_000));
    sizing.take("a", POOL, 1, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    sizing.ready(1);
    assertThat(sizing.steps(30_000)).isEmpty();
    assertThat(ended(sizing.steps(30_001))).containsExactly(1L);

    PoolSizing<String> old = new PoolSizing<>(new PoolSettings(10, 1, 50_000, 90_000));
    old.take("a", POOL, 1, 0);
    assertThat(started(old.steps(0))).containsExactly(1L);
    old.ready(1);
    assertThat(old.take("a", POOL, 1, 50_001)).as("too old").isEmpty();
    List<Step<String>> steps = old.steps(50_001);
    assertThat(ended(steps)).containsExactly(1L);
    assertThat(started(steps)).as("and another for it").containsExactly(2L);
  }

  private static PoolSettings pools(int most, long shrinkMs) {
    return new PoolSettings(100, 4, 600_000, 120_000)
        .withPools(most, new TreeMap<>(Map.of(OTHER, 1)), shrinkMs);
  }

  /** Everything that is to be started is ready at once. */
  private static List<Long> grow(PoolSizing<String> sizing, long nowMs) {
    List<Long> all = new ArrayList<>();
    List<Long> more = started(sizing.steps(nowMs));
    while (!more.isEmpty()) {
      more.forEach(sizing::ready);
      all.addAll(more);
      more = started(sizing.steps(nowMs));
    }
    return all;
  }

  @Test
  void aPoolGrowsWithTheQueueUpToItsBoundAndEachHasItsOwn() {
    PoolSizing<String> sizing = new PoolSizing<>(pools(6, 10_000));
    TreeMap<String, Integer> queue = new TreeMap<>(Map.of("a", 9, "b", 9));
    sizing.queue(key -> queue.getOrDefault(key, 0));
    assertThat(grow(sizing, 0)).as("of what was never called nothing is known").isEmpty();
    sizing.take("a", POOL, 1, 0);
    sizing.take("b", OTHER, 1, 0);
    assertThat(grow(sizing, 0)).hasSize(7);
    assertThat(sizing.pools().get(POOL)).isEqualTo(new PoolSizing.Figures(6, 0, 6, 0));
    assertThat(sizing.pools().get(OTHER)).isEqualTo(new PoolSizing.Figures(1, 0, 1, 0));
  }

  @Test
  void itShrinksOneByOneOnceDemandHasBeenLessForLongEnough() {
    PoolSizing<String> sizing = new PoolSizing<>(pools(6, 10_000));
    TreeMap<String, Integer> queue = new TreeMap<>(Map.of("a", 5));
    sizing.queue(key -> queue.getOrDefault(key, 0));
    sizing.take("a", POOL, 1, 0);
    assertThat(grow(sizing, 0)).hasSize(5);
    queue.clear();
    assertThat(sizing.steps(20_000)).as("less is wanted from now on").isEmpty();
    assertThat(sizing.steps(29_999)).isEmpty();
    queue.put("a", 5);
    assertThat(sizing.steps(30_000)).as("and wanted again").isEmpty();
    queue.clear();
    assertThat(sizing.steps(31_000)).isEmpty();
    assertThat(sizing.steps(40_999)).isEmpty();
    assertThat(ended(sizing.steps(41_000))).containsExactly(1L);
    assertThat(sizing.steps(50_999)).isEmpty();
    assertThat(ended(sizing.steps(51_000))).containsExactly(2L);
    assertThat(ended(sizing.steps(61_000))).containsExactly(3L);
    assertThat(ended(sizing.steps(71_000))).containsExactly(4L);
    assertThat(sizing.steps(81_000)).as("one is kept while the kind is in use").isEmpty();
    assertThat(sizing.pools().get(POOL)).isEqualTo(new PoolSizing.Figures(1, 0, 5, 4));
  }

  @Test
  void aQueueNeverGoesBeyondTheBudgetOfMemory() {
    PoolSizing<String> sizing =
        new PoolSizing<>(
            new PoolSettings(10, 4, 600_000, 120_000).withPools(8, new TreeMap<>(), 1));
    sizing.queue(key -> 100);
    sizing.take("a", POOL, 3, 0);
    assertThat(grow(sizing, 0)).hasSize(3);
    assertThat(sizing.bytes()).isEqualTo(9);
  }

  @Test
  void aFullPoolGivesThePlaceOfWhatNobodyCallsAnyMore() {
    PoolSizing<String> sizing = new PoolSizing<>(pools(1, 60_000));
    sizing.take("a", POOL, 1, 0);
    assertThat(grow(sizing, 0)).containsExactly(1L);
    sizing.take("b", POOL, 1, 1_000);
    assertThat(sizing.steps(1_000)).as("both are in use").isEmpty();
    sizing.take("b", POOL, 1, 1 + PoolSizing.WINDOW_MS);
    assertThat(ended(sizing.steps(1 + PoolSizing.WINDOW_MS))).containsExactly(1L);
    sizing.gone(1, 1 + PoolSizing.WINDOW_MS);
    assertThat(grow(sizing, 1 + PoolSizing.WINDOW_MS)).containsExactly(2L);
  }

  /** However often it is looked before the one that was told to go is gone. */
  @Test
  void oneIsEndedForOne() {
    PoolSizing<String> sizing = new PoolSizing<>(pools(2, 60_000));
    sizing.take("a", POOL, 1, 0);
    sizing.take("a", POOL, 1, 0);
    assertThat(grow(sizing, 0)).hasSize(2);
    sizing.take("b", POOL, 1, 1 + PoolSizing.WINDOW_MS);
    assertThat(ended(sizing.steps(1 + PoolSizing.WINDOW_MS))).containsExactly(1L);
    assertThat(sizing.steps(2 + PoolSizing.WINDOW_MS)).isEmpty();
    sizing.gone(1, 3 + PoolSizing.WINDOW_MS);
    assertThat(grow(sizing, 3 + PoolSizing.WINDOW_MS)).containsExactly(3L);
  }

  /** One kind takes each worker as soon as it is ready, so that it always wants another. */
  @Test
  void aKindThatIsCalledAllTheTimeLeavesOthersTheirTurnToStart() {
    PoolSizing<String> sizing = new PoolSizing<>(pools(8, 60_000));
    sizing.take("rare", POOL, 1, 0);
    for (long now = 1; now < 5; now++) {
      sizing.take("busy", POOL, 1, now);
      started(sizing.steps(now)).forEach(sizing::ready);
    }
    assertThat(sizing.take("rare", POOL, 1, 5)).isPresent();
  }

  /** A flood of one kind, of tenants without a quota, say. */
  @Test
  void aDeepQueueLeavesAnotherKindItsShareOfAFullPool() {
    PoolSizing<String> sizing = new PoolSizing<>(pools(4, 60_000));
    sizing.queue(key -> key.equals("flood") ? Integer.MAX_VALUE : 0);
    sizing.take("flood", POOL, 1, 0);
    assertThat(grow(sizing, 0)).hasSize(4);
    sizing.take("b", POOL, 1, 1);
    assertThat(ended(sizing.steps(1))).containsExactly(1L);
    sizing.gone(1, 2);
    assertThat(grow(sizing, 2)).containsExactly(5L);
    sizing.take("b", POOL, 1, 3);
    assertThat(sizing.pools().get(POOL).ready()).isEqualTo(3);
    assertThat(grow(sizing, 4)).hasSize(1);
    assertThat(sizing.take("b", POOL, 1, 5)).as("it has its place again").isPresent();
  }

  @Test
  void ofATenantAsManyWaitingCallsCountAsItsQuotaLetsRun() {
    WaitingCalls waiting = new WaitingCalls();
    Digest one = Digest.sha256(new byte[] {1});
    waiting.quotas(tenant -> tenant.equals("small") ? 2 : 6);
    for (int i = 0; i < 64; i++) {
      waiting.add("small", POOL, one, 1);
    }
    assertThat(waiting.of(one)).as("a flood of one tenant").isEqualTo(2);
    waiting.add("large", POOL, one, 1);
    assertThat(waiting.of(one)).isEqualTo(3);
    assertThat(waiting.of(POOL)).isEqualTo(65);
    assertThat(waiting.of(Digest.sha256(new byte[] {2}))).isZero();
    for (int i = 0; i < 64; i++) {
      waiting.add("small", POOL, one, -1);
    }
    waiting.add("large", POOL, one, -1);
    assertThat(waiting.of(one)).isZero();
    assertThat(waiting.of(POOL)).isZero();
  }
}
