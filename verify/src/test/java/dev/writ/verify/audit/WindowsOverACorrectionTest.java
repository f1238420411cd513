package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Verdict;
import dev.writ.verify.audit.AHealthyLedgerHasNoProblemsTest.Schedule;
import dev.writ.verify.testing.Audited;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Windows of budgets and spans of rates that are used before and after a correction of the clock
 * backwards, under policies that change them, with rows swept away in between: what the kernel
 * wrote stays sound. {@code -Dwrit.seed=N} repeats a schedule, {@code -Dwrit.audit.seeds=N} tries
 * more.
 */
class WindowsOverACorrectionTest {
  private static final String LONG = AHealthyLedgerHasNoProblemsTest.YAML;

  /** Other windows and spans, one of each gone, one of each new. */
  private static final List<String> POLICIES =
      List.of(
          LONG,
          LONG.replace("window_s: 600", "window_s: 7200").replace("per_s: 30", "per_s: 900"),
          LONG.replace("request_age_max_s: 300", "request_age_max_s: 5")
              .replace("window_s: 86400", "window_s: 60"),
          LONG.replace("name: often", "name: seldom").replace("name: quick", "name: slow"));

  private static final List<Duration> LEAPS =
      List.of(
          Duration.ofSeconds(90),
          Duration.ofMinutes(20),
          Duration.ofHours(3),
          Duration.ofDays(2),
          Duration.ofDays(60));

  @TempDir Path dir;
  private TestHome home;
  private Random random;

  static List<Long> seeds() {
    return AHealthyLedgerHasNoProblemsTest.seeds();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void any_steps(long seed) {
    System.out.println("writ.seed=" + seed);
    random = new Random(seed);
    home = TestHome.create(dir, LONG);
    home.clock.stepping(Duration.ofMillis(3));
    Schedule schedule = new Schedule(home, random);
    int corrections = 0;
    for (int step = 0; step < 60; step++) {
      schedule.step(true);
      if (random.nextInt(8) == 0) {
        attempt(() -> home.activate(POLICIES.get(random.nextInt(POLICIES.size()))));
      }
      if (random.nextInt(6) == 0) {
        corrections += leap() ? 1 : 0;
        sound("seed " + seed + " step " + step);
      }
    }
    home.clock.leap(Duration.ofDays(3));
    reopen();
    schedule.step(true);
    home.clock.leap(Duration.ofDays(-3));
    corrections += reopen() ? 1 : 0;
    schedule.step(true);
    sound("seed " + seed + " at the end");
    assertThat(corrections).isPositive();
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private void sound(String when) {
    assertThat(Audited.report(home).problems()).as(when).isEmpty();
  }

  private static void attempt(Runnable action) {
    try {
      action.run();
    } catch (WritException e) {
      assertThat(e.code().code()).isNotBlank();
    }
  }

  /**
   * The clock leaps while nothing runs; the operator signs for it where the kernel asks for that.
   */
  private boolean leap() {
    Duration by = LEAPS.get(random.nextInt(LEAPS.size()));
    Duration leap = random.nextBoolean() ? by : by.negated();
    if (!home.clock.instant().plus(leap).isAfter(TestHome.START)) {
      leap = by;
    }
    home.clock.leap(leap);
    return reopen();
  }

  /** Whether time went back. */
  private boolean reopen() {
    try {
      home.restart();
      return false;
    } catch (WritException e) {
      return home.correctClock().goesBack();
    }
  }

  private static String spans(int ageS) {
    return LONG.replaceAll("window_s: [0-9]+", "window_s: 60")
        .replace("request_age_max_s: 300", "request_age_max_s: " + ageS);
  }

  /** Given back while the clock was ahead: its row holds nothing, and ends with its nonce. */
  @Test
  void what_was_given_back_counts_for_nothing_after_a_correction() {
    home = TestHome.create(dir, LONG);
    home.submit(home.ask("alice"));
    home.clock.leap(Duration.ofDays(3));
    reopen();
    Digest nowhere = Digest.sha256("stored by nobody".getBytes(StandardCharsets.UTF_8));
    Envelope request = home.ask("alice").input("data", nowhere, 16).sign();
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-306");
    home.clock.leap(Duration.ofDays(-3));
    assertThat(reopen()).isTrue();
    sound("after the correction");
    home.clock.forward(Duration.ofMinutes(10));
    home.submit(home.ask("alice"));
    home.restart();
    sound("when its row is gone");
    home.close();
  }

  /** Swept away under the clock ahead, judged again under a policy with a longer memory. */
  @Test
  void a_mark_that_was_forgotten_before_a_correction() {
    home = TestHome.create(dir, spans(5));
    home.submit(home.ask("alice"));
    home.clock.leap(Duration.ofDays(3));
    reopen();
    Envelope request = home.ask("alice").sign();
    home.decide(request);
    home.clock.forward(Duration.ofSeconds(130));
    home.activate(spans(300));
    home.submit(home.ask("bob").run("run-2"));
    home.restart();
    assertThat(home.rows("account")).noneMatch(row -> row.contains(request.id().hex()));
    assertThat(home.decide(request).decision().verdict()).isEqualTo(Verdict.ALLOW);
    home.clock.leap(Duration.ofDays(-3));
    assertThat(reopen()).isTrue();
    home.submit(home.ask("alice"));
    sound("after the correction");
    home.close();
  }
}
