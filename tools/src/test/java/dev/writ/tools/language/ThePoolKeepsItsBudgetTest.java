package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.tools.language.PoolSizing.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The arithmetic of the pool, with the time as a number. */
class ThePoolKeepsItsBudgetTest {
  private static final int HISTORIES = Integer.getInteger("writ.histories", 300);

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
      OptionalLong id = sizing.take(key, bytes(key), now);
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
            assertThat(sizing.take(key, bytes(key), now)).isEmpty();
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
    assertThat(sizing.take("a", 1, 0)).isEmpty();
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    assertThat(sizing.steps(0)).isEmpty();
    assertThat(sizing.take("a", 1, 1)).as("it has only been started").isEmpty();
    assertThat(started(sizing.steps(1))).containsExactly(2L);
    sizing.ready(1);
    sizing.ready(2);
    assertThat(sizing.take("b", 1, 2)).isEmpty();
    assertThat(sizing.take("a", 1, 2)).hasValue(1);
    assertThat(sizing.take("a", 1, 2)).hasValue(2);
    assertThat(sizing.take("a", 1, 2)).isEmpty();
  }

  @Test
  void whatNobodyCallsAnyMoreMakesRoomAndWhatIsInUseDoesNot() {
    PoolSizing<String> sizing = new PoolSizing<>(TWO);
    sizing.take("a", 8, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    sizing.ready(1);
    sizing.take("b", 8, 1_000);
    assertThat(sizing.steps(1_000)).as("both are in use").isEmpty();
    sizing.take("b", 8, 1 + PoolSizing.WINDOW_MS);
    assertThat(ended(sizing.steps(1 + PoolSizing.WINDOW_MS))).containsExactly(1L);
    assertThat(sizing.steps(1 + PoolSizing.WINDOW_MS)).as("until it is gone").isEmpty();
    sizing.gone(1, 1 + PoolSizing.WINDOW_MS);
    assertThat(started(sizing.steps(1 + PoolSizing.WINDOW_MS))).containsExactly(2L);
    sizing.ready(2);
    assertThat(sizing.steps(25_000)).as("nor does it go back and forth").isEmpty();
    sizing.take("c", 11, 2 + PoolSizing.WINDOW_MS);
    assertThat(sizing.steps(40_000)).as("nobody goes for what will never fit").isEmpty();
  }

  @Test
  void whatDoesNotStartIsLeftAloneForAWhile() {
    PoolSizing<String> sizing = new PoolSizing<>(TWO);
    sizing.take("a", 1, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    sizing.gone(1, 100);
    for (long at = 100; at < 30_100; at += 5_000) {
      sizing.take("a", 1, at);
      assertThat(sizing.steps(at)).isEmpty();
    }
    assertThat(started(sizing.steps(30_100))).isNotEmpty();
  }

  @Test
  void whatTakesTooLongToStartIsEnded() {
    PoolSizing<String> sizing = new PoolSizing<>(new PoolSettings(10, 1, 600_000, 600_000));
    sizing.take("a", 1, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    assertThat(sizing.steps(PoolSizing.START_MS_MAX)).isEmpty();
    assertThat(ended(sizing.steps(PoolSizing.START_MS_MAX + 1))).containsExactly(1L);
    sizing.ready(1);
    assertThat(sizing.take("a", 1, PoolSizing.START_MS_MAX + 2)).isEmpty();
  }

  @Test
  void ageAndIdleTimeEnd() {
    PoolSizing<String> sizing = new PoolSizing<>(new PoolSettings(10, 1, 50_000, 30_000));
    sizing.take("a", 1, 0);
    assertThat(started(sizing.steps(0))).containsExactly(1L);
    sizing.ready(1);
    assertThat(sizing.steps(30_000)).isEmpty();
    assertThat(ended(sizing.steps(30_001))).containsExactly(1L);

    PoolSizing<String> old = new PoolSizing<>(new PoolSettings(10, 1, 50_000, 90_000));
    old.take("a", 1, 0);
    assertThat(started(old.steps(0))).containsExactly(1L);
    old.ready(1);
    assertThat(old.take("a", 1, 50_001)).as("too old").isEmpty();
    List<Step<String>> steps = old.steps(50_001);
    assertThat(ended(steps)).containsExactly(1L);
    assertThat(started(steps)).as("and another for it").containsExactly(2L);
  }
}
