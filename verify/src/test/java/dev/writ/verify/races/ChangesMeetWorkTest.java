package dev.writ.verify.races;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.CommitObserver;
import dev.writ.verify.testing.Audited;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is in force changes while something is in work, which is then paused for minutes. */
class ChangesMeetWorkTest {
  private static final Duration PAUSE = Duration.ofSeconds(90);

  @TempDir Path dir;

  private static void activate(TestHome home) {
    home.activate(TestPolicy.YAML.replace("limit: 100000", "limit: 100001"));
    home.clock.forward(PAUSE);
  }

  private static List<Decision> decisions(TestHome home) {
    return home.log().stream()
        .filter(e -> e.kind().equals(EventKind.DECISION_MADE))
        .map(e -> Decision.read(home.document(e.body()).document()))
        .toList();
  }

  private static void sound(TestHome home) {
    assertThat(Audited.report(home).problems()).isEmpty();
    home.restart();
    assertThat(Audited.report(home).problems()).isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void a_judgement_is_made_again_under_the_policy_that_came_first() throws Exception {
    for (String tool : List.of("calc", "mail")) {
      try (TestHome home = TestHome.create(dir.resolve(tool))) {
        Meeting meeting = Meeting.at(home.kernel(), Stage.JUDGEMENT, () -> activate(home));
        home.submit(home.ask("alice").tool(tool));
        meeting.end();
        Digest inForce = home.policy().digest();
        assertThat(decisions(home)).extracting(Decision::policy).containsExactly(inForce);
        sound(home);
      }
    }
  }

  @Test
  void between_judgement_and_enqueueing_too() throws Exception {
    for (Stage stage : List.of(Stage.PREPARE, Stage.DISPATCH, Stage.DECISION)) {
      try (TestHome home = TestHome.create(dir.resolve(stage.text()))) {
        Meeting meeting = Meeting.at(home.kernel(), stage, () -> activate(home));
        Envelope request = home.ask("alice").tool("mail").sign();
        if (stage == Stage.DECISION) {
          home.decide(request);
        } else {
          home.submit(request);
          assertThat(home.driver.runs()).hasSize(1);
        }
        meeting.end();
        Digest inForce = home.policy().digest();
        assertThat(decisions(home)).extracting(Decision::policy).containsExactly(inForce);
        sound(home);
      }
    }
  }

  @Test
  void a_pure_effect_is_judged_and_run_again() throws Exception {
    try (TestHome home = TestHome.create(dir)) {
      Meeting meeting = Meeting.at(home.kernel(), Stage.STORE, () -> activate(home));
      Answer answer = home.submit(home.ask("alice").tool("calc"));
      meeting.end();
      assertThat(answer.served().orElseThrow().receipt().status()).isEqualTo(Status.SUCCEEDED);
      Digest inForce = home.policy().digest();
      assertThat(decisions(home)).extracting(Decision::policy).containsExactly(inForce);
      sound(home);
    }
  }

  @Test
  void an_intent_of_before_is_refused_by_an_execution_that_was_paused() throws Exception {
    try (TestHome home = TestHome.create(dir)) {
      Answer decided = home.decide(home.ask("alice").tool("mail").sign());
      Meeting meeting = Meeting.at(home.kernel(), Stage.PREPARE, () -> activate(home));
      assertThat(Refused.code(() -> home.execute(decided, "alice")))
          .isEqualTo(ExecutorError.SNAPSHOT.code());
      meeting.end();
      assertThat(home.driver.runs()).isEmpty();
      sound(home);
    }
  }

  /** A receipt that no verifier would take is none: the effect is in doubt, and told so later. */
  @Test
  void what_ran_when_the_executors_key_was_revoked_long_ago_gets_no_receipt_of_it() {
    try (TestHome home = TestHome.create(dir)) {
      home.driver.does(
          "mail",
          invocation -> {
            home.revoke("executor");
            home.clock.forward(PAUSE);
            return Behaviours.echo(invocation);
          });
      Envelope request = home.ask("alice").tool("mail").sign();
      assertThat(Refused.code(() -> home.submit(request)))
          .isEqualTo(ExecutorError.RECEIPT_FAILED.code());
      sound(home);
      assertThat(home.driver.runs()).hasSize(1);
    }
  }

  /** Within a minute it is what was under way. */
  @Test
  void what_ran_when_it_was_revoked_a_moment_ago_gets_its_receipt() {
    try (TestHome home = TestHome.create(dir)) {
      home.driver.does(
          "mail",
          invocation -> {
            home.revoke("executor");
            home.clock.forward(Duration.ofSeconds(59));
            return Behaviours.echo(invocation);
          });
      Served served = home.submit(home.ask("alice").tool("mail")).served().orElseThrow();
      assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
      sound(home);
    }
  }

  /**
   * Each judgement is overtaken by a change: nothing that is not pure is done, and that is said.
   */
  @Test
  void changes_that_keep_coming_leave_nothing_half_done() {
    try (TestHome home = TestHome.create(dir)) {
      AtomicInteger changes = new AtomicInteger();
      home.kernel()
          .observe(
              new StageObserver() {
                @Override
                public void begins(Stage stage) {}

                @Override
                public void ends(Stage stage, Optional<ErrorCode> refused) {
                  if (stage == Stage.JUDGEMENT) {
                    String name = "extra-" + changes.incrementAndGet();
                    home.enrol(TestKeys.trusted(name, KeyRole.OPERATOR, Optional.empty()));
                  }
                }
              },
              CommitObserver.NONE);
      Envelope request = home.ask("alice").tool("mail").sign();
      assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-970");
      assertThat(changes).hasValueGreaterThan(1);
      assertThat(home.driver.runs()).isEmpty();
      assertThat(home.events("acme", "run-1")).isEmpty();
      home.kernel().observe(StageObserver.NONE, CommitObserver.NONE);
      assertThat(home.submit(request).served()).isPresent();
      sound(home);
    }
  }
}
