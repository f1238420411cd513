package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.profile.ExecuteState.Seen;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Seed 000's surface and the native API share runs and idempotency keys: an id that one subject
 * used there is taken for that subject, and tells another one nothing.
 */
class AnIdOfAnExecutionIsItsSubjectsTest {
  private static final Digest RAW = Digest.sha256(new byte[] {1});

  @Test
  void what_was_asked_elsewhere_under_an_id(@TempDir Path dir) {
    try (TestHome home = TestHome.create(dir)) {
      home.submit(home.ask("alice").tool("mail").key("served"));
      home.submit(home.ask("alice").tool("pay").key("waits"));
      home.submit(home.ask("alice").run("denied").tool("mail").params("{\"forbidden\":1}"));
      PastExecutions alice = of(home, "alice");
      assertThat(alice.seen("served")).as("by the native API").isEqualTo(Seen.OTHER_BODY);
      assertThat(alice.executed("served")).isTrue();
      assertThat(alice.seen("waits")).as("it is no execution of the surface").isEqualTo(Seen.NEW);
      assertThat(alice.executed("waits")).isFalse();
      assertThat(alice.waiting()).isEmpty();
      assertThat(alice.executed("run-1")).as("a run with receipts").isTrue();
      assertThat(alice.executed("denied")).as("a run without one").isFalse();
      assertThat(alice.executed("unknown")).isFalse();

      PastExecutions bob = of(home, "bob");
      assertThat(bob.seen("served")).isEqualTo(Seen.NEW);
      assertThat(bob.executed("served")).isFalse();
      assertThat(bob.seen("waits")).isEqualTo(Seen.NEW);
    }
  }

  private static PastExecutions of(TestHome home, String subject) {
    return new PastExecutions(home.ledger(), new Scope("acme", "run-1", subject), RAW);
  }
}
