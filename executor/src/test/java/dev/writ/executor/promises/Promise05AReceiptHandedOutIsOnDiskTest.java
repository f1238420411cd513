package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Promise 5: a receipt handed out is on disk first, and so is a decision. */
@Timeout(300)
class Promise05AReceiptHandedOutIsOnDiskTest {
  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(strings = {"calc", "mail"})
  void a_process_killed_right_after_it_answered_had_written(String tool) {
    List<byte[]> requests;
    try (TestHome home = TestHome.create(dir)) {
      requests =
          List.of(
              home.ask("alice").tool(tool).bytes(),
              home.ask("alice").tool(tool).params("{\"n\":2}").bytes());
    }
    Digest first;
    Digest second;
    try (KilledKernel child = KilledKernel.serving(dir, requests)) {
      first = Digest.parse(child.next());
      second = Digest.parse(child.next());
    }
    try (TestHome home = TestHome.open(dir)) {
      assertThat(home.kernel().receipt("acme", first).receipt().status())
          .isEqualTo(Status.SUCCEEDED);
      assertThat(home.kernel().receipt("acme", second).output()).isPresent();
      assertThat(home.kernel().submit(requests.getLast(), List.of()).served().orElseThrow().id())
          .isEqualTo(second);
      assertThat(home.driver.runs()).isEmpty();
      assertThat(home.fsck().problems()).isEmpty();
    }
  }

  @Test
  void a_decision_too() {
    byte[] request;
    try (TestHome home = TestHome.create(dir)) {
      request = home.ask("alice").tool("mail").bytes();
    }
    Digest decision;
    try (KilledKernel child = KilledKernel.deciding(dir, List.of(request))) {
      decision = Digest.parse(child.next());
    }
    try (TestHome home = TestHome.open(dir)) {
      assertThat(home.ledger().hasDocument(decision)).isTrue();
      assertThat(home.kernel().decide(request, List.of()).decisionEnvelope().id())
          .isEqualTo(decision);
    }
  }

  @Test
  void what_cannot_be_written_is_not_handed_out() {
    try (TestHome home = TestHome.create(dir)) {
      home.beforeWrite(() -> {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      });
      assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("LED-005");
      assertThat(Refused.code(() -> home.decide(home.ask("alice").sign()))).isEqualTo("LED-022");
      assertThat(home.rows("served")).isEmpty();
    }
  }
}
