package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestWorkspaces;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** An installation whose tools work in the workspace of their run, and a run with all of that. */
public final class Workshop {
  private Workshop() {}

  public static TestHome home(Path dir) {
    TestHome home = TestHome.withWorkspaces(dir);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.clock.stepping(Duration.ofMillis(7)); // each reading is another one
    home.driver.does("desk", writes(home, "a"));
    home.driver.does("lathe", writes(home, "b"));
    return home;
  }

  private static TestDriver.Behaviour writes(TestHome home, String text) {
    return invocation -> {
      home.workspaces.append(invocation, text);
      return Behaviours.echo(invocation);
    };
  }

  /**
   * Four effects in the workspace, two of which pin it, and one without; a pin that does not hold;
   * a doubt, what its quarantine refuses, and its resolution; one more effect.
   */
  public static void fill(TestHome home) {
    home.submit(ask(home, "desk"));
    home.submit(ask(home, "mail"));
    home.submit(ask(home, "lathe").pins(TestWorkspaces.digest("a")));
    home.submit(ask(home, "desk").pins(TestWorkspaces.digest("ab")));
    assertThat(Refused.code(() -> home.submit(ask(home, "desk").pins(RunWorkspaces.EMPTY))))
        .isEqualTo("EXE-310");
    home.driver.does(
        "desk",
        invocation -> {
          writes(home, "x").run(invocation);
          throw new IllegalStateException("a bug");
        });
    home.submit(ask(home, "desk"));
    home.driver.does("desk", writes(home, "a"));
    Served doubt = doubt(home);
    assertThat(Refused.code(() -> home.submit(ask(home, "desk")))).isEqualTo("EXE-311");
    home.submit(ask(home, "mail"));
    home.kernel().resolve(home.resolution(doubt, Resolution.Found.HAPPENED));
    home.submit(ask(home, "desk"));
  }

  /** The disk is full when the receipt of an effect is to be written, if it gets so far. */
  public static void fails(TestHome home, String run) {
    fail(home, ask(home, "desk").run(run));
  }

  private static void fail(TestHome home, TestRequest request) {
    AtomicInteger writes = new AtomicInteger();
    home.beforeWrite(() -> {
      if (writes.incrementAndGet() == 2) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    assertThat(Refused.code(() -> home.submit(request))).isIn("LED-005", "EXE-311");
    home.beforeWrite(() -> {});
    home.restart();
  }

  private static Served doubt(TestHome home) {
    TestRequest request = ask(home, "desk");
    fail(home, request);
    Served doubt = home.submit(request).served().orElseThrow();
    assertThat(doubt.receipt().status()).isEqualTo(Status.IN_DOUBT);
    return doubt;
  }

  /** An effect whose tree cannot be measured when it has ended; the last one in its run. */
  public static void unmeasured(TestHome home, RuntimeException failure) {
    home.driver.does(
        "desk",
        invocation -> {
          home.workspaces.fails(failure);
          return Behaviours.echo(invocation);
        });
    home.submit(ask(home, "desk"));
    home.workspaces.fails(null);
    home.driver.does("desk", writes(home, "a"));
    assertThat(Refused.code(() -> home.submit(ask(home, "desk")))).isEqualTo("EXE-311");
  }

  public static DriverOutcome ends(Invocation invocation) {
    return Behaviours.echo(invocation);
  }

  public static TestRequest ask(TestHome home, String tool) {
    return home.ask("alice").tool(tool);
  }
}
