package dev.writ.verify.audit;

import static dev.writ.verify.audit.Rewrite.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AuditReport.Problem;
import dev.writ.verify.error.AuditError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The audit finds a closed run whose checkpoint nobody signed who may; and no other (audit.md, 6).
 */
class CheckpointsOfClosedRunsAreHeldTest {
  private static final String ENROLLED = "log";
  private static final String SECOND = "log-2";

  @TempDir Path dir;
  private TestHome home;
  private int forgeries;

  @BeforeEach
  void open() {
    home = TestHome.create(dir.resolve("home"));
    home.clock.stepping(Duration.ofMillis(5));
    home.submit(home.ask("alice"));
  }

  @AfterEach
  void close() {
    home.close();
  }

  private static TrustedKey logKey(String name, Instant from, Instant to) {
    return new TrustedKey(
        TestKeys.key(name).verifyingKey(),
        KeyRole.LOG,
        Optional.empty(),
        name,
        from,
        Optional.of(to),
        Optional.empty());
  }

  private void enrol(String name) {
    home.enrol(TestKeys.trusted(name, KeyRole.LOG, Optional.empty()));
  }

  private void closeRun() {
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
  }

  private Event closing() {
    return home.last("acme", "run-1").orElseThrow();
  }

  private String row(String run) {
    return new String(
        home.ledger().get(Tables.CLOSED, Tables.key("acme", run)).orElseThrow(),
        StandardCharsets.US_ASCII);
  }

  private String place(String run) {
    return "row closed acme/" + run + " checkpoint of size " + Long.parseLong(row(run), 16);
  }

  private AuditReport audit(Path at) {
    try (LedgerView reader = Ledger.openReadOnly(at)) {
      return Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
  }

  /** The same ledger where that key signs every checkpoint. */
  private AuditReport signedBy(String name, Rewrite rewrite) {
    Path at = dir.resolve("forged" + forgeries++);
    rewrite.write(
        new LedgerConfig(
            at,
            at.resolveSibling(at.getFileName() + ".anchor"),
            TestHome.ORIGIN,
            TestKeys.key(name),
            home.clock));
    return audit(at);
  }

  private AuditReport signedBy(String name) {
    return signedBy(name, new Rewrite(home.ledger()));
  }

  /** The same ledger where the log's key was enrolled with another window. */
  private AuditReport enrolledFor(Instant from, Instant to) {
    Event enrolment =
        home.log().stream().filter(e -> e.kind().equals(EventKind.KEY_ENROLLED)).toList().getLast();
    return signedBy(
        ENROLLED,
        new Rewrite(home.ledger())
            .document(
                enrolment.body(),
                document -> with(document, "detail", logKey(ENROLLED, from, to).toJson())));
  }

  private static void sound(AuditReport report) {
    assertThat(report.problems()).isEmpty();
  }

  private void found(AuditReport report) {
    assertThat(report.problems())
        .extracting(Problem::code, Problem::place)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(AuditError.CHAIN, place("run-1")));
  }

  @Test
  void anEnrolledLogKeySigned() {
    enrol(ENROLLED);
    closeRun();
    AuditReport report = signedBy(ENROLLED);
    sound(report);
    assertThat(report.notVerified()).noneMatch(line -> line.startsWith("who signed"));
  }

  @Test
  void somebodyElseSigned() {
    enrol(ENROLLED);
    closeRun();
    AuditReport report = signedBy("mallory");
    found(report);
    Problem problem = report.problems().getFirst();
    assertThat(problem.recorded())
        .isEqualTo("not signed by a log key that is in force at " + closing().at());
    assertThat(problem.recomputed()).contains(TestKeys.key(ENROLLED).kid());
  }

  @Test
  void anEnrolledKeyOfAnotherRoleSigned() {
    enrol(ENROLLED);
    closeRun();
    found(signedBy("guardian"));
  }

  @Test
  void whereNoLogKeyIsEnrolledNothingIsSaidOfThem() {
    closeRun();
    for (String name : List.of(ENROLLED, "mallory")) {
      AuditReport report = signedBy(name);
      sound(report);
      assertThat(report.notVerified()).anyMatch(line -> line.startsWith("who signed"));
    }
  }

  /** The last event that it covers counts, and nothing that came later. */
  @Test
  void theKeysWindowHoldsTheLastEventThatItCovers() {
    enrol(ENROLLED);
    closeRun();
    Instant last = closing().at();
    home.clock.forward(Duration.ofHours(2));
    home.submit(home.ask("alice").run("run-2"));
    Instant long_ago = last.minus(Duration.ofDays(30));
    Instant later = last.plus(Duration.ofDays(30));
    found(enrolledFor(long_ago, last));
    sound(enrolledFor(long_ago, last.plusMillis(1)));
    sound(enrolledFor(last, later));
    found(enrolledFor(last.plusMillis(1), later));
  }

  @Test
  void oneOfSeveralLogKeysSigned() {
    enrol(SECOND);
    enrol(ENROLLED);
    closeRun();
    sound(signedBy(ENROLLED));
    sound(signedBy(SECOND));
    found(signedBy("mallory"));
  }

  @Test
  void aKeyThatWasRevokedBeforeSignsNothing() {
    enrol(ENROLLED);
    enrol(SECOND);
    home.revoke(SECOND);
    closeRun();
    found(signedBy(SECOND));
    sound(signedBy(ENROLLED));
  }

  @Test
  void aKeyThatWasRevokedAfterwardsSignedIt() {
    enrol(ENROLLED);
    enrol(SECOND);
    closeRun();
    home.revoke(SECOND);
    home.submit(home.ask("alice").run("run-2"));
    sound(signedBy(SECOND));
  }

  /** Two runs can be sealed by one: it is told once. */
  @Test
  void aCheckpointOfTwoRunsIsToldOnce() {
    enrol(ENROLLED);
    home.submit(home.ask("alice").run("run-2"));
    closeRun();
    home.kernel().closeRun(home.close("acme", "run-2", "alice"));
    String second = row("run-2");
    home.close();
    put("run-1", second);
    home.restart();
    sound(signedBy(ENROLLED));
    found(signedBy("mallory"));
  }

  private void put(String run, String row) {
    try (Ledger ledger = Ledger.open(home.ledgerConfig())) {
      ledger
          .append(
              new Batch()
                  .put(
                      Tables.CLOSED,
                      Tables.key("acme", run),
                      row.getBytes(StandardCharsets.US_ASCII)))
          .await();
    }
  }

  /** What is in the row's place is one finding, whatever it is. */
  @Test
  void rowsThatNameNoCheckpoint() {
    enrol(ENROLLED);
    closeRun();
    home.close();
    String place = "row closed acme/run-1";
    for (String row : List.of("ffffffffffffffff", "8000000000000000", "0000000000000000", "nine")) {
      put("run-1", row);
      assertThat(audit(home.ledgerConfig().dir()).problems())
          .as(row)
          .extracting(Problem::code, Problem::place)
          .containsExactly(org.assertj.core.groups.Tuple.tuple(AuditError.ROW, place));
    }
    put("run-1", "00000000000000ff");
    assertThat(audit(home.ledgerConfig().dir()).problems())
        .extracting(Problem::code, Problem::place)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(AuditError.CHAIN, place));
  }
}
