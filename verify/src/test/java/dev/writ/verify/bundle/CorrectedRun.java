package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Closed runs over a clock that was wrong and was corrected. */
public final class CorrectedRun {
  static final Duration AHEAD = Duration.ofDays(80);

  private CorrectedRun() {}

  public static TestHome home(Path dir) {
    TestHome home = TestHome.create(dir);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.clock.stepping(Duration.ofMillis(3));
    return home;
  }

  /** Before, ahead, after, in one run; a policy and a key end while the clock is ahead. */
  public static void back(TestHome home) {
    home.submit(home.ask("alice").tool("mail"));
    home.clock.leap(AHEAD);
    home.restart();
    home.submit(home.ask("alice").tool("mail"));
    home.revoke("bob");
    home.activate(TestPolicy.YAML);
    home.clock.leap(AHEAD.negated());
    home.correctClock();
    home.submit(home.ask("alice").tool("mail"));
    home.submit(home.ask("alice"));
    Sample.close(home, "run-1");
  }

  /** A step forward that an operator signed. */
  public static void forward(TestHome home) {
    home.submit(home.ask("alice").tool("mail"));
    home.clock.leap(Duration.ofDays(400));
    assertThat(home.correctClock().goesBack()).isFalse();
    home.submit(home.ask("alice").tool("mail"));
    Sample.close(home, "run-1");
  }
}
