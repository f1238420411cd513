package dev.writ.verify.audit;

import static dev.writ.verify.audit.TwoCells.FIRST;
import static dev.writ.verify.audit.TwoCells.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AuditReport.Problem;
import dev.writ.verify.error.AuditError;
import dev.writ.verify.testing.Audited;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tenant that has begun goes from one cell to another one (spec/cells.md, "Moving"). */
class ATenantMovesBetweenCellsTest {
  private static final int HOURLY = 12;
  private static final int RATE = 5;
  private static final String POLICY =
      TestPolicy.SHARED.replace(
          "requirements:",
          """
            - { name: hourly, scope: tenant, unit: calls, limit: 12, window_s: 3600 }
          temporal:
            rates:
              - { name: quick, scope: subject, limit: 5, per_s: 30 }
          requirements:\
          """);

  @TempDir Path dir;
  private TwoCells cells;

  @BeforeEach
  void start() {
    cells = new TwoCells(dir, POLICY);
  }

  @AfterEach
  void stop() {
    cells.close();
  }

  private Answer submit(int cell, String run) {
    return cells.home(cell).submit(cells.home(cell).ask("alice").run(run));
  }

  private int allowed(int cell, String run, int asked) {
    int allowed = 0;
    for (int i = 0; i < asked; i++) {
      allowed += submit(cell, run).decision().verdict() == Verdict.ALLOW ? 1 : 0;
    }
    return allowed;
  }

  private void sound() {
    for (int cell = 0; cell < 3; cell++) {
      assertThat(Audited.report(cells.home(cell)).problems()).as("cell " + cell).isEmpty();
    }
  }

  private List<String> moves(int cell) {
    return cells.home(cell).kinds(TenantDeparted.RUN.tenant(), TenantDeparted.RUN.run());
  }

  @Test
  void whatWasSpentStaysSpent() {
    assertThat(allowed(FIRST, "a", 4)).isEqualTo(4);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(FIRST, "a", 3)).isEqualTo(3);
    cells.move(FIRST, SECOND);
    assertThat(moves(FIRST)).containsExactly(EventKind.TENANT_DEPARTED);
    assertThat(moves(SECOND)).containsExactly(EventKind.TENANT_ARRIVED);
    assertThat(allowed(SECOND, "b", RATE)).as("three of the rate are used").isEqualTo(RATE - 3);
    cells.restart(SECOND);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", HOURLY)).as("rate, then budget").isEqualTo(HOURLY - 4 - RATE);
    sound();
    cells.forward(Duration.ofHours(1));
    assertThat(allowed(SECOND, "b", RATE + 1)).as("a new window").isEqualTo(RATE);
    sound();
  }

  @Test
  void itGoesBackAndNothingCountsTwice() {
    assertThat(allowed(FIRST, "a", 3)).isEqualTo(3);
    cells.move(FIRST, SECOND);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", 4)).isEqualTo(4);
    cells.move(SECOND, FIRST);
    cells.restart(FIRST);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(FIRST, "a", 4)).as("the run of before goes on").isEqualTo(4);
    sound();
    cells.move(FIRST, SECOND);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", RATE)).isEqualTo(HOURLY - 11);
    sound();
    assertThat(moves(FIRST))
        .containsExactly(
            EventKind.TENANT_DEPARTED, EventKind.TENANT_ARRIVED, EventKind.TENANT_DEPARTED);
  }

  /** What an effect in doubt is charged is known within bounds, so perhaps nothing came back. */
  @Test
  void aRowThatHasNothingToCarryBackMayBeForgotten() {
    TestHome first = cells.home(FIRST);
    first.driver.does("mail", Behaviours.ends(DriverOutcome.End.IN_DOUBT, "no-answer"));
    first.submit(first.ask("alice").run("a").tool("mail"));
    cells.move(FIRST, SECOND);
    cells.move(SECOND, FIRST);
    sound();
    for (int i = 0; i < 3; i++) {
      cells.forward(Duration.ofMinutes(20));
      cells.restart(FIRST);
      assertThat(allowed(FIRST, "b", 1)).isEqualTo(1);
      first.kernel().contents().collect(first.kernel().now());
    }
    sound();
  }

  @Test
  void manyRequestsThatAreSummarizedAreCarriedToo() {
    for (int i = 0; i < 3; i++) {
      allowed(FIRST, "a", 4);
      cells.forward(Duration.ofMinutes(7));
    }
    cells.restart(FIRST);
    cells.move(FIRST, SECOND);
    cells.restart(SECOND);
    assertThat(allowed(SECOND, "b", 1)).as("all of the hour is spent").isZero();
    sound();
  }

  @Test
  void aRepeatGetsWhatItGotAndNothingIsDoneTwice() {
    TestHome first = cells.home(FIRST);
    TestHome second = cells.home(SECOND);
    Envelope done = first.ask("alice").run("a").tool("mail").key("k1").sign();
    Envelope denied = first.ask("alice").run("a").tool("mail").params("{\"forbidden\":1}").sign();
    Envelope waiting = first.ask("alice").run("a").tool("pay").sign();
    Envelope decided = first.ask("alice").run("a").sign();
    Answer served = first.submit(done);
    first.submit(denied);
    first.submit(waiting);
    Answer intent = first.decide(decided);
    cells.move(FIRST, SECOND);
    int calls = second.driver.runs().size();
    assertThat(second.submit(done).served().orElseThrow().id())
        .isEqualTo(served.served().orElseThrow().id());
    assertThat(second.submit(denied).decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(Refused.code(() -> second.submit(waiting))).isEqualTo("EXE-998");
    assertThat(Refused.code(() -> second.submit(decided))).isEqualTo("EXE-998");
    assertThat(Refused.code(() -> second.execute(intent, "alice"))).isEqualTo("EXE-108");
    assertThat(
            second
                .submit(second.ask("alice").run("b").tool("mail").key("k1"))
                .served()
                .orElseThrow()
                .id())
        .as("a new request with the key of an old one")
        .isEqualTo(served.served().orElseThrow().id());
    assertThat(
            Refused.code(() -> second.submit(second.ask("alice").run("b").tool("calc").key("k1"))))
        .as("the key for another effect")
        .isEqualTo("EXE-110");
    assertThat(Refused.code(() -> second.submit(second.ask("alice").run("a"))))
        .as("a run of the former cell")
        .isEqualTo("EXE-998");
    assertThat(second.driver.runs()).hasSize(calls);
    sound();
  }

  @Test
  void theFormerCellAnswersAndDoesNothingMore() {
    TestHome first = cells.home(FIRST);
    Envelope done = first.ask("alice").run("a").tool("mail").sign();
    Envelope waiting = first.ask("alice").run("w").tool("pay").sign();
    Answer served = first.submit(done);
    first.submit(waiting);
    Answer intent = first.decide(first.ask("alice").run("a").sign());
    cells.move(FIRST, SECOND);
    long size = first.ledger().treeSize();
    assertThat(first.submit(done).served().orElseThrow().id())
        .isEqualTo(served.served().orElseThrow().id());
    assertThat(first.kernel().receipt(TestKeys.TENANT, served.served().orElseThrow().id()))
        .isNotNull();
    assertThat(Refused.code(() -> submit(FIRST, "a"))).isEqualTo("EXE-990");
    assertThat(Refused.code(() -> first.approve(waiting, "rita"))).isEqualTo("EXE-990");
    assertThat(Refused.code(() -> first.execute(intent, "alice"))).isEqualTo("EXE-990");
    assertThat(first.ledger().treeSize()).isEqualTo(size);
    first.kernel().closeRun(first.close(TestKeys.TENANT, "a", "alice"));
    assertThat(first.kinds(TestKeys.TENANT, "a")).endsWith(EventKind.RUN_CLOSED);
    sound();
  }

  @Test
  void nothingIsDoneBetweenTheTwo() {
    allowed(FIRST, "a", 2);
    Envelope statement = cells.state(FIRST, SECOND);
    cells.home(SECOND).kernel().follow(statement);
    assertThat(Refused.code(() -> submit(SECOND, "b"))).isEqualTo("EXE-967");
    assertThat(cells.goOn(SECOND).waiting()).containsKey(TestKeys.TENANT);
    assertThat(allowed(FIRST, "a", 1)).as("it has not seen the statement").isEqualTo(1);
    cells.home(FIRST).kernel().follow(statement);
    assertThat(Refused.code(() -> submit(FIRST, "a"))).isEqualTo("EXE-990");
    cells.goOn(SECOND);
    assertThat(Refused.code(() -> submit(SECOND, "b"))).isEqualTo("EXE-967");
    assertThat(cells.goOn(FIRST).departed()).containsExactly(TestKeys.TENANT);
    assertThat(Refused.code(() -> submit(SECOND, "b"))).isEqualTo("EXE-967");
    assertThat(cells.goOn(SECOND).arrived()).containsExactly(TestKeys.TENANT);
    assertThat(allowed(SECOND, "b", 1)).isEqualTo(1);
    sound();
  }

  @Test
  void eachStepIsMadeOnceWhoeverOwnsTheCells() {
    allowed(FIRST, "a", 2);
    cells.follow(cells.state(FIRST, SECOND));
    cells.restart(FIRST);
    cells.restart(SECOND);
    cells.goOn(FIRST);
    cells.restart(FIRST);
    assertThat(cells.goOn(FIRST).departed()).isEmpty();
    cells.goOn(SECOND);
    cells.restart(SECOND);
    assertThat(cells.goOn(SECOND).arrived()).isEmpty();
    assertThat(moves(FIRST)).hasSize(1);
    assertThat(moves(SECOND)).hasSize(1);
    assertThat(allowed(SECOND, "b", RATE)).isEqualTo(RATE - 2);
    sound();
  }

  @Test
  void itLeavesWhenWhatIsAtWorkHasEnded() throws Exception {
    TestHome first = cells.home(FIRST);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    first.driver.does("mail", Behaviours.blocks(begun, ends));
    try (ExecutorService others = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Answer> answer =
          others.submit(() -> first.submit(first.ask("alice").run("a").tool("mail")));
      begun.await();
      cells.follow(cells.state(FIRST, SECOND));
      assertThat(cells.goOn(FIRST).waiting().get(TestKeys.TENANT).code().code())
          .isEqualTo("EXE-969");
      ends.countDown();
      assertThat(answer.get().served()).isPresent();
    }
    assertThat(cells.goOn(FIRST).departed()).containsExactly(TestKeys.TENANT);
    cells.goOn(SECOND);
    sound();
  }

  @Test
  void whatCannotBeMoved() {
    assertThat(Refused.code(() -> cells.state(SECOND, FIRST))).isEqualTo("EXE-968");
    assertThat(Refused.code(() -> cells.state(FIRST, FIRST))).isEqualTo("EXE-968");
    assertThat(Refused.code(() -> cells.state(FIRST, 3))).isEqualTo("EXE-965");
    cells.follow(cells.state(FIRST, SECOND));
    assertThat(Refused.code(() -> cells.state(FIRST, SECOND))).isEqualTo("EXE-968");
    assertThat(Refused.code(() -> cells.state(SECOND, FIRST)))
        .as("it has not arrived")
        .isEqualTo("EXE-969");
    cells.goOn(FIRST);
    cells.goOn(SECOND);
    cells.state(SECOND, FIRST);
  }

  @Test
  void theExampleOfThePageIsADeparture() throws IOException {
    String page =
        Files.readString(
            Path.of(System.getProperty("writ.root", "..")).resolve("spec").resolve("cells.md"));
    String begin = "```json writ:tenant-departed\n";
    int from = page.indexOf(begin) + begin.length();
    JsonValue example =
        Jcs.parse(page.substring(from, page.indexOf("```", from)).getBytes(StandardCharsets.UTF_8));
    assertThat(TenantDeparted.read(example).toJson()).isEqualTo(example);
    cells.move(FIRST, SECOND);
    assertThat(
            ((JsonValue.Obj) cells.home(FIRST).document(moved(FIRST).body()).document())
                .members()
                .keySet())
        .isEqualTo(((JsonValue.Obj) example).members().keySet());
  }

  // What an audit finds.

  private AuditReport forged(int cell, Rewrite rewrite) {
    LedgerConfig config =
        new LedgerConfig(
            dir.resolve("forged"),
            dir.resolve("forged.anchor"),
            cells.home(cell).ledger().origin(),
            TestKeys.key("log"),
            cells.home(cell).clock);
    rewrite.write(config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      return Audit.check(
          reader, new Tools(cells.home(cell).tools, cells.home(cell).drivers), (_, _) -> {});
    }
  }

  private Event moved(int cell) {
    return cells.home(cell).last("writ", "moves").orElseThrow();
  }

  private static JsonValue.Obj withLess(JsonValue.Obj document) {
    JsonValue.Obj amount =
        (JsonValue.Obj) ((JsonValue.Arr) document.get("amounts")).items().getFirst();
    JsonValue.Obj less = Rewrite.with(amount, "amount", JsonValue.of(1));
    return Rewrite.with(document, "amounts", JsonValue.of(List.of(less)));
  }

  @Test
  void aDepartureThatForgetsWhatWasSpent() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    AuditReport report =
        forged(
            FIRST,
            new Rewrite(cells.home(FIRST).ledger())
                .document(moved(FIRST).body(), ATenantMovesBetweenCellsTest::withLess));
    assertThat(report.problems()).extracting(Problem::code).containsOnly(AuditError.ACCOUNT);
    assertThat(report.problems().getFirst().place()).contains("tenant.departed");
  }

  @Test
  void anArrivalThatSomebodyElseSigned() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    AuditReport report =
        forged(
            SECOND,
            new Rewrite(cells.home(SECOND).ledger()).signer(moved(SECOND).body(), "executor"));
    assertThat(report.problems()).extracting(Problem::code).containsExactly(AuditError.SIGNATURE);
  }

  @Test
  void accountsThatBeginWithOtherAmountsThanArrived() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    allowed(SECOND, "b", 1);
    AuditReport report =
        forged(
            SECOND,
            new Rewrite(cells.home(SECOND).ledger())
                .document(moved(SECOND).body(), ATenantMovesBetweenCellsTest::withLess));
    assertThat(report.problems())
        .extracting(Problem::code)
        .contains(AuditError.ACCOUNT, AuditError.ROW);
  }

  @Test
  void aRowThatWasMadeSmaller() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    Ledger ledger = (Ledger) cells.home(SECOND).ledger();
    String key = Accounts.ROW_PREFIX + moved(SECOND).body().hex();
    String row = new String(ledger.get(Tables.ACCOUNT, key).orElseThrow(), StandardCharsets.UTF_8);
    ledger
        .append(
            new Batch()
                .put(
                    Tables.ACCOUNT,
                    key,
                    row.replace("\"amount\":3", "\"amount\":2").getBytes(StandardCharsets.UTF_8)))
        .await();
    List<Problem> problems = Audited.report(cells.home(SECOND)).problems();
    assertThat(problems).isNotEmpty();
    assertThat(problems).extracting(Problem::code).containsOnly(AuditError.ROW);
  }

  /** An event that a kernel would not write, at the end of a run or as its beginning. */
  private void appended(int cell, String run, Event like) {
    Ledger ledger = (Ledger) cells.home(cell).ledger();
    Event next =
        cells
            .home(cell)
            .last(TestKeys.TENANT, run)
            .orElseThrow()
            .next(like.kind(), like.body(), cells.home(cell).clock.instant(), like.prngSeed());
    ledger.append(new Batch().event(next)).await();
  }

  private List<AuditError> codes(int cell) {
    return Audited.report(cells.home(cell)).problems().stream()
        .map(problem -> (AuditError) problem.code())
        .toList();
  }

  @Test
  void workBehindADeparture() {
    allowed(FIRST, "a", 1);
    cells.move(FIRST, SECOND);
    Event received = cells.home(FIRST).events(TestKeys.TENANT, "a").get(1);
    appended(FIRST, "a", received);
    assertThat(codes(FIRST)).contains(AuditError.MOVES);
  }

  @Test
  void workBeforeAnArrival() {
    allowed(FIRST, "a", 1);
    cells.move(FIRST, SECOND);
    allowed(SECOND, "b", 1);
    cells.follow(cells.state(SECOND, FIRST));
    cells.goOn(SECOND);
    Event received = cells.home(FIRST).events(TestKeys.TENANT, "a").get(1);
    appended(FIRST, "a", received);
    assertThat(codes(FIRST)).contains(AuditError.MOVES);
  }

  @Test
  void anArrivalTwiceAndAnArrivalInAnotherCell() {
    allowed(FIRST, "a", 1);
    cells.move(FIRST, SECOND);
    Event arrived = moved(SECOND);
    Ledger second = (Ledger) cells.home(SECOND).ledger();
    second
        .append(
            new Batch()
                .event(
                    arrived.next(arrived.kind(), arrived.body(), arrived.at(), arrived.prngSeed())))
        .await();
    assertThat(codes(SECOND)).contains(AuditError.TWICE);
    Event left = moved(FIRST);
    Ledger first = (Ledger) cells.home(FIRST).ledger();
    first
        .append(
            new Batch().event(left.next(arrived.kind(), left.body(), left.at(), left.prngSeed())))
        .await();
    assertThat(codes(FIRST)).contains(AuditError.MOVES);
  }
}
