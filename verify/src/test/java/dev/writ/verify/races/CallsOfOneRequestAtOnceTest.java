package dev.writ.verify.races;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Stage;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.testing.Audited;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who finds a request in work waits for it; what was read before the wait is read again. */
class CallsOfOneRequestAtOnceTest {
  @TempDir Path dir;

  /** The second call is admitted before the first one's row is there, and judged after it. */
  @Test
  void the_time_of_receipt_is_the_first_calls() throws Exception {
    try (TestHome home = TestHome.create(dir)) {
      home.clock.stepping(Duration.ofMillis(7));
      Digest nowhere = Digest.sha256("stored by nobody".getBytes(StandardCharsets.UTF_8));
      Envelope request = home.ask("alice").tool("calc").input("data", nowhere, 16).sign();
      Meeting meeting = Meeting.at(home.kernel(), Stage.JUDGEMENT, () -> refusedFor(home, request));
      refusedFor(home, request);
      meeting.end();
      List<Decision> decisions = decisions(home);
      assertThat(decisions).hasSize(2);
      var received = home.events("acme", "run-1").get(1).at();
      assertThat(decisions)
          .extracting(d -> JudgeInputs.read(d.inputs()).receivedAt())
          .containsOnly(received);
      RequestRow row =
          RequestRow.parse(
              home.ledger().get(Tables.REQUEST, Tables.key(request.id())).orElseThrow());
      assertThat(row.receivedAt()).isEqualTo(received);
      AuditReport report = Audited.report(home);
      assertThat(report.problems()).isEmpty();
      home.restart();
      assertThat(Audited.report(home).problems()).isEmpty();
    }
  }

  private static void refusedFor(TestHome home, Envelope request) {
    assertThat(Refused.code(() -> home.submit(request)))
        .isEqualTo(ExecutorError.INPUT_UNKNOWN.code());
  }

  private static List<Decision> decisions(TestHome home) {
    return home.events("acme", "run-1").stream()
        .filter(e -> e.kind().equals("decision.made"))
        .map(e -> Decision.read(home.document(e.body()).document()))
        .toList();
  }
}
