package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What keeps the executor's key was away for longer than anybody waits, and came back. */
class AReceiptIsSignedWhenItsKeyIsBackTest {
  private final AtomicBoolean away = new AtomicBoolean(true);

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir.resolve("home"));
    home.restartWith(executor -> Faults.signingIsAway(executor, away));
  }

  @AfterEach
  void stop() {
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private TestRequest failed(TestRequest request) {
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-801");
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.dispatched");
    return request;
  }

  private Served served(TestRequest request) {
    return home.submit(request).served().orElseThrow();
  }

  @Test
  void whoAsksAgainGetsIt() {
    TestRequest request = failed(home.ask("alice").tool("mail"));
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-109");
    home.clock.forward(Duration.ofHours(1));
    away.set(false);
    Served served = served(request);
    assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(served.receipt().finishedAt()).isBefore(home.clock.instant().minusSeconds(60));
    assertThat(served.output()).isPresent();
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.finished", "receipt.signed");
    assertThat(served(request).id()).isEqualTo(served.id());
    assertThat(home.driver.runs()).hasSize(1);
    assertThat(home.rows("dispatched")).isEmpty();
    assertThat(home.kernel().settleAwaited()).isZero();
  }

  /** An effect is under way, and its tool has another one done. */
  private TestRequest twoAtOnce() {
    TestRequest second = home.ask("alice").tool("mail").run("run-2");
    home.driver.does(
        "mail",
        call -> {
          home.driver.does("mail", Behaviours::echo);
          assertThat(Refused.code(() -> home.submit(second))).isEqualTo("EXE-801");
          return Behaviours.echo(call);
        });
    failed(home.ask("alice").tool("mail"));
    return second;
  }

  @Test
  void itIsSignedWithoutBeingAskedFor() {
    TestRequest second = twoAtOnce();
    assertThat(home.kernel().settleAwaited()).isEqualTo(2);
    away.set(false);
    assertThat(home.kernel().settleAwaited()).isZero();
    assertThat(home.kinds("acme", "run-1")).endsWith("receipt.signed");
    assertThat(home.kinds("acme", "run-2")).endsWith("receipt.signed");
    home.restart();
    assertThat(served(second).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(home.driver.runs()).hasSize(2);
  }

  @Test
  void meanwhileNothingFurtherIsDispatchedThatIsNotDoneAgain() {
    failed(home.ask("alice").tool("mail"));
    TestRequest second = home.ask("alice").tool("mail").run("run-2");
    assertThat(Refused.code(() -> home.submit(second))).isEqualTo("CAN-078");
    assertThat(home.events("acme", "run-2")).isEmpty();
    assertThat(home.driver.runs()).hasSize(1);
    assertThat(Refused.code(() -> home.submit(home.ask("alice").run("run-3"))))
        .isEqualTo("EXE-801");
    away.set(false);
    assertThat(served(second).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.finished", "receipt.signed");
    assertThat(home.kernel().settleAwaited()).isZero();
  }

  @Test
  void anIntentThatIsThereIsNotDispatchedEither() {
    TestRequest second = home.ask("alice").tool("mail").run("run-2");
    home.decide(second.sign());
    failed(home.ask("alice").tool("mail"));
    assertThat(Refused.code(() -> home.submit(second))).isEqualTo("CAN-078");
    assertThat(home.kinds("acme", "run-2")).endsWith("intent.issued");
    away.set(false);
    assertThat(served(second).receipt().status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void anotherRequestUnderItsIdempotencyKeyGetsIt() {
    failed(home.ask("alice").tool("mail").key("k1"));
    TestRequest again = home.ask("alice").tool("mail").key("k1").run("run-2");
    assertThat(Refused.code(() -> home.submit(again))).isEqualTo("EXE-109");
    away.set(false);
    assertThat(served(again).receipt().scope().run()).isEqualTo("run-1");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void whatItsDriverDoesNotKnowIsInDoubtThen() {
    home.driver.does("mail", _ -> DriverOutcome.inDoubt("no answer"));
    TestRequest request = failed(home.ask("alice").tool("mail"));
    away.set(false);
    Served served = served(request);
    assertThat(served.receipt().status()).isEqualTo(Status.IN_DOUBT);
    assertThat(served.receipt().message()).isEqualTo("no answer");
  }

  @Test
  void afterHalfADayItIsForTheNextStart() {
    TestRequest request = failed(home.ask("alice").tool("mail"));
    home.clock.forward(Duration.ofHours(13));
    away.set(false);
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-109");
    assertThat(home.kernel().settleAwaited()).isZero();
    home.restart();
    assertThat(served(request).receipt().status()).isEqualTo(Status.IN_DOUBT);
  }
}
