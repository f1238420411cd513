package dev.writ.verify.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Answer;
import dev.writ.executor.ClockCheck;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.Event;
import dev.writ.verify.testing.Sound;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AClockThatLeapsTest {
  private static final Duration FIVE_YEARS = Duration.ofDays(5 * 365);

  /** Within what an installation may stand idle, where policy is silent. */
  private static final Duration AHEAD = Duration.ofDays(80);

  private static final String FEW =
      TestPolicy.YAML.replace(
          "requirements:",
          """
            - { name: few, scope: subject, unit: calls, limit: 3, window_s: 86400 }
          temporal:
            rates:
              - { name: slow, scope: subject, limit: 3, per_s: 3600 }
          requirements:\
          """);

  @TempDir Path dir;

  private TestHome home;

  @BeforeEach
  void create() {
    home = TestHome.create(dir, FEW);
  }

  @AfterEach
  void soundToTheEnd() {
    Sound.require(home);
    home.close();
  }

  private Receipt serve(TestRequest request) {
    return home.submit(request).served().orElseThrow().receipt();
  }

  private String refused(TestRequest request) {
    return home.submit(request).decision().code().orElseThrow();
  }

  /** Runs for a while under a clock that was ahead when it started. */
  private void runAhead() {
    home.clock.leap(AHEAD);
    home.restart();
  }

  /** The clock is right again, and the kernel does not start. */
  private void clockIsRightAgain() {
    home.clock.leap(AHEAD.negated());
    assertThat(Refused.code(home::restart)).isEqualTo("EXE-904");
  }

  @Test
  void five_years_are_refused_move_nothing_and_are_forgotten() {
    serve(home.ask("alice"));
    TestRequest fresh = home.ask("alice").tool("mail");
    Envelope pending = home.ask("alice").tool("pay").sign();
    home.submit(pending);
    long size = home.ledger().treeSize();
    int accounts = home.rows(Tables.ACCOUNT).size();
    home.clock.leap(FIVE_YEARS);
    assertThatThrownBy(() -> home.submit(home.ask("alice")))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("EXE-980")
        .hasMessageContaining("clock " + home.clock.instant())
        .hasMessageContaining("ledger " + TestHome.START)
        .hasMessageContaining("0 s passed since; policy lets it step 3600 s");
    assertThat(Refused.code(() -> home.submit(fresh))).isEqualTo("EXE-980");
    assertThat(Refused.code(() -> home.decide(fresh.sign()))).isEqualTo("EXE-980");
    assertThat(Refused.code(() -> home.approve(pending, "rita"))).isEqualTo("EXE-980");
    assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "alice"))))
        .isEqualTo("EXE-980");
    assertThat(Refused.code(() -> home.revoke("alice"))).isEqualTo("EXE-980");
    assertThat(Refused.code(() -> home.activate(FEW))).isEqualTo("EXE-980");
    assertThat(Refused.code(() -> home.kernel().now())).isEqualTo("EXE-980");
    home.clock.leap(FIVE_YEARS.negated());
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    assertThat(serve(fresh).finishedAt()).isEqualTo(TestHome.START);
    home.clock.leap(FIVE_YEARS);
    assertThat(Refused.code(home::restart)).isEqualTo("EXE-980");
    home.clock.leap(FIVE_YEARS.negated());
    home.restart();
    assertThat(home.rows(Tables.ACCOUNT)).hasSize(accounts + 1);
    serve(home.ask("alice"));
    assertThat(refused(home.ask("alice"))).isEqualTo("GRD-201");
  }

  @Test
  void a_clock_that_was_ahead_while_somebody_only_looked_is_forgotten() {
    serve(home.ask("alice"));
    home.clock.leap(Duration.ofMinutes(50));
    assertThat(home.kernel().look()).isEqualTo(TestHome.START.plus(Duration.ofMinutes(50)));
    home.clock.leap(Duration.ofMinutes(-50));
    assertThat(home.kernel().look()).isEqualTo(TestHome.START);
    assertThat(serve(home.ask("alice")).finishedAt()).isEqualTo(TestHome.START);
    home.clock.leap(Duration.ofMinutes(50));
    home.kernel().look();
    home.clock.leap(Duration.ofMinutes(50));
    assertThat(home.kernel().look()).as("two steps, each seen").isEqualTo(home.clock.instant());
    home.clock.leap(FIVE_YEARS);
    assertThat(Refused.code(() -> home.kernel().look())).isEqualTo("EXE-980");
    home.clock.leap(FIVE_YEARS.negated());
    assertThat(serve(home.ask("alice")).finishedAt()).isEqualTo(home.clock.instant());
    home.clock.back(Duration.ofSeconds(2));
    assertThat(home.kernel().look()).isEqualTo(home.clock.instant().plusSeconds(2));
    home.clock.back(Duration.ofMillis(1));
    assertThat(Refused.code(() -> home.kernel().look())).isEqualTo("EXE-904");
    home.clock.leap(Duration.ofMillis(2001));
  }

  @Test
  void a_clock_that_was_ahead_while_all_was_refused_is_forgotten() {
    Envelope done = home.ask("alice").sign();
    home.submit(done);
    Envelope late = home.ask("alice").sign();
    Envelope allowed = home.ask("alice").sign();
    Answer decided = home.decide(allowed);
    home.clock.leap(Duration.ofMinutes(50));
    assertThat(Refused.code(() -> home.submit(late))).isEqualTo("GRD-012");
    assertThat(Refused.code(() -> home.approve(done, "rita"))).isEqualTo("EXE-908");
    home.clock.leap(Duration.ofMinutes(-50));
    assertThat(home.kernel().look()).isEqualTo(TestHome.START);
    assertThat(home.submit(late).served().orElseThrow().receipt().finishedAt())
        .isEqualTo(TestHome.START);
    assertThat(home.submit(allowed).decision()).isEqualTo(decided.decision());
  }

  @Test
  void time_that_passes_is_no_leap_however_long_it_is() {
    serve(home.ask("alice"));
    home.clock.forward(Duration.ofDays(3 * 365));
    serve(home.ask("alice"));
    home.clock.leap(Duration.ofHours(1));
    serve(home.ask("alice"));
    home.clock.leap(Duration.ofHours(1).plusMillis(1));
    assertThat(Refused.code(() -> serve(home.ask("alice")))).isEqualTo("EXE-980");
    home.clock.leap(Duration.ofMillis(-1));
    serve(home.ask("alice"));
  }

  @Test
  void a_start_takes_as_long_an_idle_time_as_policy_says() {
    serve(home.ask("alice"));
    home.clock.leap(Duration.ofDays(90));
    home.restart();
    assertThat(Refused.code(() -> home.submit(home.ask("alice").at(TestHome.START))))
        .isEqualTo("GRD-012");
    home.clock.leap(Duration.ofDays(-90));
    home.restart();
    home.activate(
        FEW.replace(
            "request_bytes_max: 1000000",
            "request_bytes_max: 1000000, clock_step_max_s: 5, clock_idle_max_s: 60"));
    home.clock.leap(Duration.ofMillis(5001));
    assertThat(Refused.code(() -> serve(home.ask("alice")))).isEqualTo("EXE-980");
    home.clock.leap(Duration.ofMillis(54_999));
    home.restart();
    serve(home.ask("alice"));
    home.clock.leap(Duration.ofMillis(60_001));
    assertThat(Refused.code(home::restart)).isEqualTo("EXE-980");
    assertThat(home.correctClock().goesBack()).isFalse();
    serve(home.ask("alice"));
  }

  @Test
  void what_runs_while_the_clock_leaps_is_dated_by_the_time_that_passed() {
    home.driver.does(
        "mail",
        invocation -> {
          home.clock.forward(Duration.ofSeconds(7));
          home.clock.leap(FIVE_YEARS);
          return Behaviours.echo(invocation);
        });
    Receipt receipt = serve(home.ask("alice").tool("mail"));
    assertThat(receipt.finishedAt()).isEqualTo(TestHome.START.plusSeconds(7));
    home.clock.leap(FIVE_YEARS.negated());
    serve(home.ask("alice"));
  }

  @Test
  void a_correction_states_what_it_finds_and_time_goes_on_from_there() {
    serve(home.ask("alice"));
    runAhead();
    Instant ahead = serve(home.ask("bob").run("run-2")).finishedAt();
    clockIsRightAgain();
    home.clock.forward(Duration.ofSeconds(5));
    Instant now = home.clock.instant();
    ClockCorrection made = home.correctClock();
    assertThat(made.from()).isEqualTo(ahead);
    assertThat(made.to()).isEqualTo(now);
    assertThat(made.incarnation()).contains(2L);
    Event event = home.log().get((int) made.treeSize());
    assertThat(event.kind()).isEqualTo(EventKind.CLOCK_CORRECTED);
    assertThat(event.at()).isEqualTo(now);
    assertThat(serve(home.ask("bob").run("run-2")).finishedAt()).isEqualTo(now);
    assertThat(Refused.code(home::correctClock)).isEqualTo("EXE-983");
    home.restart();
  }

  @Test
  void nothing_is_spent_twice_over_a_correction() {
    serve(home.ask("alice"));
    TestRequest used = home.ask("alice").nonce("used once");
    serve(used);
    runAhead();
    serve(home.ask("alice"));
    home.restart(); // sweeps away what is old by the wrong clock
    assertThat(home.rows(Tables.ACCOUNT)).hasSize(1);
    clockIsRightAgain();
    home.correctClock();
    assertThat(home.rows(Tables.ACCOUNT)).hasSize(3);
    assertThat(refused(home.ask("alice"))).isEqualTo("GRD-201");
    assertThat(
            Refused.code(
                () -> home.submit(home.ask("alice").params("{\"n\":2}").nonce("used once"))))
        .isEqualTo("GRD-007");
    assertThat(serve(used).startedAt()).isEqualTo(TestHome.START);
    home.clock.forward(Duration.ofDays(1));
    serve(home.ask("alice"));
  }

  @Test
  void what_waited_or_was_allowed_while_the_clock_was_ahead_is_void() {
    runAhead();
    Envelope waiting = home.ask("alice").tool("pay").sign();
    assertThat(home.submit(waiting).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    Answer allowed = home.decide(home.ask("alice").tool("mail").sign());
    Envelope again = home.ask("bob").run("run-2").tool("mail").sign();
    home.decide(again);
    clockIsRightAgain();
    home.correctClock();
    assertThat(Refused.code(() -> home.approve(waiting, "rita"))).isEqualTo("GRD-015");
    assertThat(Refused.code(() -> home.submit(again))).isEqualTo("GRD-015");
    assertThat(Refused.code(() -> home.execute(allowed, "alice"))).isEqualTo("EXE-112");
    home.clock.forward(AHEAD); // the very moment that they were made for
    assertThat(Refused.code(() -> home.execute(allowed, "alice"))).isEqualTo("EXE-105");
    assertThat(home.driver.runs()).isEmpty();
  }

  @Test
  void a_key_that_was_revoked_while_the_clock_was_ahead_stays_revoked() {
    runAhead();
    home.revoke("bob");
    clockIsRightAgain();
    home.correctClock();
    assertThat(Refused.code(() -> home.submit(home.ask("bob").run("run-2")))).isEqualTo("CAN-055");
    serve(home.ask("alice"));
  }

  @Test
  void what_was_in_doubt_and_what_was_served_stays_so() {
    home.driver.does("mail", Behaviours::echo);
    runAhead();
    TestRequest served = home.ask("alice").tool("mail");
    byte[] receipt = home.submit(served).served().orElseThrow().envelope().toBytes();
    clockIsRightAgain();
    home.correctClock();
    assertThat(home.submit(served).served().orElseThrow().envelope().toBytes()).isEqualTo(receipt);
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void only_an_operator_corrects_and_only_what_is_there() {
    serve(home.ask("alice"));
    runAhead();
    serve(home.ask("alice"));
    clockIsRightAgain();
    long size;
    try (var view = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      size = view.treeSize();
    }
    assertThat(
            Refused.code(() ->
                ClockCheck.correct(home.atClock(), c -> signedBy("owner", home.correction(c)))))
        .isEqualTo("CAN-053");
    assertThat(
            Refused.code(() ->
                ClockCheck.correct(home.atClock(), c -> signedBy("mallory", home.correction(c)))))
        .isEqualTo("CAN-052");
    assertThat(
            Refused.code(() ->
                ClockCheck.correct(
                    home.atClock(),
                    c ->
                        home.correction(
                            new ClockCorrection(
                                c.from(), c.to(), c.treeSize() + 1, c.incarnation())))))
        .isEqualTo("EXE-981");
    try (var view = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      assertThat(view.treeSize()).isEqualTo(size);
    }
    home.correctClock();
    assertThat(
            Refused.code(() ->
                home.kernel()
                    .change(
                        home.correction(
                            new ClockCorrection(
                                home.clock.instant(),
                                home.clock.instant().minusSeconds(60),
                                home.ledger().treeSize(),
                                Optional.of(9L))))))
        .isEqualTo("EXE-981");
  }

  private static Envelope signedBy(String name, Envelope envelope) {
    return Envelope.sign(envelope.payloadType(), envelope.document(), key(name));
  }

  private static SigningKey key(String name) {
    return TestKeys.key(name);
  }
}
