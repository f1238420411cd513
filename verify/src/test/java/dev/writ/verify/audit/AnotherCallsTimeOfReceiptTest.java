package dev.writ.verify.audit;

import static dev.writ.verify.audit.Rewrite.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.AuditReport.Problem;
import dev.writ.verify.error.AuditError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ledgers of kernels that judged the second of two calls by its own time of receipt (bound 11 of
 * spec/audit.md): sound, and said so. Whatever such a race cannot have written stays a problem.
 */
class AnotherCallsTimeOfReceiptTest {
  @TempDir Path dir;

  /** The first call came in so much after the request was made; both were judged 3 s later. */
  private AuditReport audited(Duration first, int judgement, Duration other) {
    try (TestHome home = TestHome.create(dir.resolve("home"))) {
      Digest nowhere = Digest.sha256("stored by nobody".getBytes(StandardCharsets.UTF_8));
      Envelope request = home.ask("alice").tool("calc").input("data", nowhere, 16).sign();
      home.clock.forward(first);
      lapse(home, request);
      home.clock.forward(Duration.ofSeconds(120));
      lapse(home, request);
      List<Digest> decisions =
          home.log().stream()
              .filter(e -> e.kind().equals(EventKind.DECISION_MADE))
              .map(e -> e.body())
              .toList();
      Instant stated = TestHome.START.plus(other);
      LedgerConfig config = config(home);
      new Rewrite(home.ledger())
          .document(decisions.get(judgement), decision -> received(decision, stated))
          .write(config);
      if (judgement == 1) {
        row(config, request.id(), stated);
      }
      try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
        return Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
      }
    }
  }

  private static void lapse(TestHome home, Envelope request) {
    assertThat(Refused.code(() -> home.submit(request)))
        .isEqualTo(ExecutorError.INPUT_UNKNOWN.code());
  }

  private static JsonValue.Obj received(JsonValue.Obj decision, Instant at) {
    JsonValue.Obj inputs = (JsonValue.Obj) decision.get("inputs");
    return with(
        decision, "inputs", with(inputs, "received_at", JsonValue.of(Timestamps.format(at))));
  }

  private LedgerConfig config(TestHome home) {
    return new LedgerConfig(
        dir.resolve("old"),
        dir.resolve("old.json"),
        TestHome.ORIGIN,
        TestKeys.key("log"),
        home.clock);
  }

  /** The row stated it as well. */
  private static void row(LedgerConfig config, Digest request, Instant receivedAt) {
    try (Ledger ledger = Ledger.open(config)) {
      String key = Tables.key(request);
      RequestRow row = RequestRow.parse(ledger.get(Tables.REQUEST, key).orElseThrow());
      RequestRow old =
          new RequestRow(row.run(), row.state(), row.decision(), row.intent(), receivedAt);
      ledger.append(new Batch().put(Tables.REQUEST, key, old.toBytes())).await();
    }
  }

  private static void unsound(AuditReport report) {
    assertThat(report.problems()).extracting(Problem::code).contains(AuditError.JUDGEMENT);
  }

  @Test
  void is_told_and_no_problem() {
    AuditReport report = audited(Duration.ofSeconds(1), 1, Duration.ofSeconds(4));
    assertThat(report.problems()).isEmpty();
    assertThat(report.notVerified())
        .anyMatch(line -> line.startsWith("1 decisions: ") && line.contains("bound 11"));
  }

  @Test
  void may_lie_before_the_first_calls() {
    assertThat(audited(Duration.ofSeconds(5), 1, Duration.ofSeconds(2)).problems()).isEmpty();
  }

  @Test
  void is_never_that_of_the_first_judgement() {
    unsound(audited(Duration.ofSeconds(1), 0, Duration.ofSeconds(4)));
  }

  @Test
  void is_not_long_after_the_first_judgement() {
    unsound(audited(Duration.ofSeconds(1), 1, Duration.ofSeconds(62)));
  }

  @Test
  void is_not_when_the_request_was_too_old() {
    unsound(audited(Duration.ofSeconds(290), 1, Duration.ofSeconds(301)));
  }

  @Test
  void is_not_before_the_request_was_made() {
    unsound(audited(Duration.ofSeconds(1), 1, Duration.ofSeconds(-3)));
  }
}
