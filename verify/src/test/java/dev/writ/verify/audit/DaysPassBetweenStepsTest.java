package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.verify.audit.AHealthyLedgerHasNoProblemsTest.Schedule;
import dev.writ.verify.testing.Audited;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Windows end, nonces and rows expire, and the clock jumps by seconds to days between any two
 * steps, in the middle of effects too: a ledger that the kernel wrote stays sound. {@code
 * -Dwrit.seed=N} repeats a schedule, {@code -Dwrit.audit.seeds=N} tries more.
 */
class DaysPassBetweenStepsTest {
  private static final List<Duration> JUMPS =
      List.of(
          Duration.ofSeconds(2),
          Duration.ofSeconds(61),
          Duration.ofSeconds(70),
          Duration.ofMinutes(6),
          Duration.ofMinutes(20),
          Duration.ofHours(5),
          Duration.ofDays(1),
          Duration.ofDays(3));

  /** Nothing but a nonce needs a row for long. */
  private static final String BRIEF =
      TestPolicy.YAML
          .replace("request_age_max_s: 300", "request_age_max_s: 1")
          .replace("window_s: 86400", "window_s: 60");

  @TempDir Path dir;

  static List<Long> seeds() {
    return AHealthyLedgerHasNoProblemsTest.seeds();
  }

  private static void sound(TestHome home, String when) {
    assertThat(Audited.report(home).problems()).as(when).isEmpty();
  }

  private static void enrolAKey(TestHome home, int number) {
    home.enrol(TestKeys.trusted("extra-" + number, KeyRole.OPERATOR, Optional.empty()));
  }

  /** What the crash campaign found: rows go at a start that comes after a change of a later day. */
  @Test
  void three_effects_and_a_key_on_the_next_day() {
    try (TestHome home = TestHome.create(dir)) {
      home.clock.stepping(Duration.ofMillis(1));
      for (int i = 0; i < 3; i++) {
        home.submit(home.ask("alice"));
      }
      home.clock.forward(Duration.ofDays(1));
      enrolAKey(home, 1);
      home.restart();
      sound(home, "after the start");
      home.kernel().closeRun(home.close("acme", "run-1", "alice"));
      home.restart();
      sound(home, "closed");
      assertThat(home.fsck().problems()).isEmpty();
    }
  }

  /** Found by the simulation: a nonce is free when no policy since would let its request in. */
  @Test
  void a_nonce_under_a_policy_with_a_shorter_window() {
    try (TestHome home = TestHome.create(dir)) {
      home.submit(home.ask("alice").nonce("once"));
      home.activate(BRIEF);
      home.submit(home.ask("alice"));
      home.clock.forward(Duration.ofSeconds(70));
      home.submit(home.ask("alice"));
      home.submit(home.ask("alice").nonce("once").params("{\"other\":1}"));
      sound(home, "after its second use");
      home.activate(TestPolicy.YAML);
      home.submit(home.ask("alice"));
      sound(home, "under the longer window");
    }
  }

  /** Its row is over when the effect ends, and nothing reads it any more. */
  @Test
  void an_effect_that_outlasts_its_row() {
    try (TestHome home = TestHome.create(dir, BRIEF)) {
      home.driver.does(
          "mail",
          invocation -> {
            home.clock.forward(Duration.ofMinutes(5));
            home.submit(home.ask("bob").run("run-2"));
            return Behaviours.echo(invocation);
          });
      home.submit(home.ask("alice").tool("mail"));
      sound(home, "beside the kernel");
      home.submit(home.ask("bob").run("run-2"));
      home.restart();
      sound(home, "after a start");
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void any_steps(long seed) {
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    String policy = random.nextBoolean() ? AHealthyLedgerHasNoProblemsTest.YAML : BRIEF;
    try (TestHome home = TestHome.create(dir, policy)) {
      home.clock.stepping(Duration.ofMillis(3));
      Schedule schedule = new Schedule(home, random);
      List<Envelope> requests = new ArrayList<>();
      for (int step = 0; step < 60; step++) {
        if (random.nextInt(3) == 0) {
          home.clock.forward(JUMPS.get(random.nextInt(JUMPS.size())));
        }
        schedule.step(true);
        int number = step;
        attempt(() -> special(home, random, requests, number));
        if (step % 6 == 0) {
          sound(home, "seed " + seed + " step " + step);
        }
      }
      home.restart();
      sound(home, "seed " + seed + " at the end");
      assertThat(home.fsck().problems()).isEmpty();
    }
  }

  private static void attempt(Runnable action) {
    try {
      action.run();
    } catch (WritException e) {
      assertThat(e.code().code()).isNotBlank();
    }
  }

  private static void special(TestHome home, Random random, List<Envelope> requests, int number) {
    switch (random.nextInt(8)) {
      case 0 -> enrolAKey(home, number);
      case 1 -> home.restart();
      case 2 -> {
        Duration lasts = JUMPS.get(random.nextInt(JUMPS.size()));
        home.driver.does(
            "sim",
            invocation -> {
              home.clock.forward(lasts);
              attempt(() -> home.submit(home.ask("bob").run("bob-beside")));
              return Behaviours.echo(invocation);
            });
        home.submit(home.ask("alice").tool("sim").run("alice-long"));
      }
      case 3 -> {
        Envelope request = home.ask("alice").tool("mail").run("alice-two").sign();
        requests.add(request);
        Answer decided = home.decide(request);
        home.clock.forward(JUMPS.get(random.nextInt(4)));
        home.execute(decided, "alice");
      }
      case 4 -> {
        if (!requests.isEmpty()) {
          home.submit(requests.get(random.nextInt(requests.size())));
        }
      }
      default -> {
        // Only the schedule's step.
      }
    }
  }
}
