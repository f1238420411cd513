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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Promise 5: a receipt handed out is on disk first, and so is a decision. */
@Timeout(300)
class Promise05AReceiptHandedOutIsOnDiskTest {
  @TempDir Path dir;

  @Test
  void a_process_killed_right_after_it_answered_had_written() {
    List<byte[]> requests;
    byte[] last;
    try (TestHome home = TestHome.create(dir)) {
      requests =
          Stream.of("calc", "mail")
              .flatMap(tool ->
                  Stream.of(1, 2)
                      .map(n -> home.ask("alice").tool(tool).params("{\"n\":" + n + "}").bytes()))
              .toList();
      last = home.ask("alice").tool("mail").run("decided").bytes();
    }
    List<Digest> receipts;
    Digest decision;
    try (KilledKernel child = KilledKernel.serving(dir, requests, last)) {
      receipts = requests.stream().map(_ -> Digest.parse(child.next())).toList();
      decision = Digest.parse(child.next());
    }
    try (TestHome home = TestHome.open(dir)) {
      for (int i = 0; i < requests.size(); i++) {
        Digest receipt = receipts.get(i);
        assertThat(home.kernel().receipt("acme", receipt).receipt().status())
            .isEqualTo(Status.SUCCEEDED);
        assertThat(home.kernel().receipt("acme", receipt).output()).isPresent();
        assertThat(home.kernel().submit(requests.get(i), List.of()).served().orElseThrow().id())
            .isEqualTo(receipt);
      }
      assertThat(home.driver.runs()).isEmpty();
      assertThat(home.ledger().hasDocument(decision)).as("a decision too").isTrue();
      assertThat(home.kernel().decide(last, List.of()).decisionEnvelope().id()).isEqualTo(decision);
      assertThat(home.fsck().problems()).isEmpty();
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
