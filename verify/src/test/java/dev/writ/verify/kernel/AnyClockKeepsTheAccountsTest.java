package dev.writ.verify.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Answer;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Verdict;
import dev.writ.verify.testing.Sound;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A clock that passes, leaps and is set back, restarts and corrections in any order: no budget is
 * spent twice, no nonce used twice, and what is left is sound. {@code -Dwrit.seed=N} repeats one
 * schedule, {@code -Dwrit.clock.seeds=N} tries more of them.
 */
class AnyClockKeepsTheAccountsTest {
  private static final int LIMIT = 4;
  private static final int WINDOW_S = 3600;
  private static final int FRESH_S = 300;
  private static final String YAML =
      TestPolicy.YAML.replace(
          "requirements:",
          "  - { name: few, scope: subject, unit: calls, limit: 4, window_s: 3600 }\n"
              + "requirements:");

  @TempDir Path dir;

  private SplittableRandom random;
  private TestHome home;
  private boolean open = true;
  private int asked;

  /** When each allowed call counts, by what a correction made of it. */
  private List<Instant> spent = new ArrayList<>();

  /** Until when each nonce is refused. */
  private final TreeMap<String, Instant> nonces = new TreeMap<>();

  private final TreeMap<String, Integer> outcomes = new TreeMap<>();

  static LongStream seeds() {
    Long one = Long.getLong("writ.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.rangeClosed(1, Integer.getInteger("writ.clock.seeds", 3));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void nothing_is_spent_twice(long seed) {
    System.out.println("writ.seed=" + seed);
    random = new SplittableRandom(seed);
    home = TestHome.create(dir, YAML);
    for (int step = 0; step < 120; step++) {
      step();
    }
    reopen();
    Sound.require(home);
    System.out.println(outcomes);
    assertThat(outcomes.keySet())
        .contains("allowed", "denied", "nonce refused", "corrected", "EXE-980", "EXE-904");
    home.close();
  }

  private void step() {
    int dice = random.nextInt(100);
    if (dice < 60) {
      ask();
    } else if (dice < 70) {
      home.clock.forward(Duration.ofSeconds(random.nextInt(900)));
    } else if (dice < 80) {
      long seconds = random.nextInt(2) == 0 ? 86_400L * 100 : 3000;
      leap(random.nextInt(2) == 0 ? seconds : -seconds);
    } else if (dice < 92) {
      restart();
    } else {
      reopen();
    }
  }

  private void leap(long seconds) {
    Instant to = home.clock.instant().plusSeconds(seconds);
    boolean keysAreValid =
        to.isAfter(TestHome.START) && to.isBefore(TestHome.START.plusSeconds(86_400L * 900));
    if (keysAreValid) {
      home.clock.leap(Duration.ofSeconds(seconds));
    }
  }

  private void restart() {
    try {
      home.restart();
      open = true;
      count("restarted");
    } catch (WritException e) {
      open = false;
      count(e.code().code());
    }
  }

  /** Whatever it takes. */
  private void reopen() {
    restart();
    if (!open) {
      var made = home.correctClock();
      open = true;
      count(made.goesBack() ? "corrected" : "confirmed");
      if (made.goesBack()) {
        spent = new ArrayList<>(spent.stream().map(at -> earlier(at, made.to())).toList());
        nonces.replaceAll((_, until) -> earlier(until, made.to().plusSeconds(FRESH_S)));
      }
    }
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  private void ask() {
    if (!open) {
      reopen();
    }
    boolean again = !nonces.isEmpty() && random.nextInt(4) == 0;
    String nonce = again ? nonces.lastKey() : String.format("n-%05d", asked);
    TestRequest request = home.ask("alice").nonce(nonce).params("{\"n\":" + ++asked + "}");
    if (random.nextInt(3) == 0) {
      request.tool("mail");
    }
    Answer answer;
    try {
      answer = home.submit(request);
    } catch (WritException e) {
      count(e.code().code().equals("GRD-007") ? "nonce refused" : e.code().code());
      return;
    }
    Instant at = answer.decision().decidedAt();
    if (again) {
      assertThat(at).as("nonce " + nonce).isAfterOrEqualTo(nonces.get(nonce));
    }
    nonces.put(nonce, at.plusSeconds(FRESH_S));
    if (answer.decision().verdict() == Verdict.ALLOW) {
      long window = at.getEpochSecond() / WINDOW_S;
      long before = spent.stream().filter(s -> s.getEpochSecond() / WINDOW_S == window).count();
      assertThat(before).as("spent in the window of " + at).isLessThan(LIMIT);
      spent.add(at);
      count("allowed");
    } else {
      count("denied");
    }
  }

  private void count(String outcome) {
    outcomes.merge(outcome, 1, Integer::sum);
  }
}
