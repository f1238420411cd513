package dev.writ.verify.audit;

import static dev.writ.verify.audit.TwoCells.FIRST;
import static dev.writ.verify.audit.TwoCells.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
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
import dev.writ.verify.error.AuditError;
import dev.writ.verify.testing.Audited;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Keys, policies and clocks that change between a tenant's departure and its arrival, and what the
 * audit makes of them (spec/cells.md, "Moving").
 */
class WhatChangesWhileATenantMovesTest {
  private static final String HOURLY =
      "  - { name: hourly, scope: tenant, unit: calls, limit: 12, window_s: 3600 }\n";
  private static final String QUICK =
      "temporal:\n  rates:\n    - { name: quick, scope: subject, limit: 5, per_s: 30 }\n";
  private static final String POLICY = policy(HOURLY, QUICK);

  @TempDir Path dir;
  private TwoCells cells;

  private static String policy(String budget, String rate) {
    return TestPolicy.SHARED.replace("requirements:", budget + rate + "requirements:");
  }

  @BeforeEach
  void start() {
    cells = new TwoCells(dir, POLICY);
  }

  @AfterEach
  void stop() {
    cells.close();
  }

  private int allowed(int cell, String run, int asked) {
    TestHome home = cells.home(cell);
    int allowed = 0;
    for (int i = 0; i < asked; i++) {
      Verdict verdict = home.submit(home.ask("alice").run(run)).decision().verdict();
      allowed += verdict == Verdict.ALLOW ? 1 : 0;
    }
    return allowed;
  }

  private void sound() {
    for (int cell = 0; cell < 3; cell++) {
      assertThat(Audited.report(cells.home(cell)).problems()).as("cell " + cell).isEmpty();
    }
  }

  /** The statement and the departure, and what happens before the arrival. */
  private void move(int from, int to, Runnable between) {
    cells.follow(cells.state(from, to));
    assertThat(cells.goOn(from).departed()).containsExactly(TestKeys.TENANT);
    between.run();
    assertThat(cells.goOn(to).arrived()).containsExactly(TestKeys.TENANT);
  }

  // Policies.

  @Test
  void itPassesThroughWithoutWork() {
    assertThat(allowed(FIRST, "a", 4)).isEqualTo(4);
    cells.move(FIRST, SECOND);
    sound();
    cells.move(SECOND, FIRST);
    sound();
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(FIRST, "a", 5)).isEqualTo(5);
    cells.move(FIRST, SECOND);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", 5)).as("nine of twelve are spent").isEqualTo(3);
    sound();
  }

  @Test
  void otherWindowsBeforeTheArrival() {
    assertThat(allowed(FIRST, "a", 4)).isEqualTo(4);
    String longer =
        policy(HOURLY.replace("3600", "7200"), QUICK.replace("per_s: 30", "per_s: 300"));
    move(FIRST, SECOND, () -> cells.activate(longer));
    assertThat(allowed(SECOND, "b", 5)).as("four of five uses count").isEqualTo(1);
    sound();
    cells.restart(SECOND);
    cells.forward(Duration.ofMinutes(6));
    assertThat(allowed(SECOND, "b", 5)).isEqualTo(5);
    cells.forward(Duration.ofMinutes(6));
    assertThat(allowed(SECOND, "b", 5)).as("ten of twelve are spent").isEqualTo(2);
    sound();
  }

  @Test
  void itComesBackUnderShorterSpansAndWindows() {
    assertThat(allowed(FIRST, "a", 3)).isEqualTo(3);
    cells.forward(Duration.ofSeconds(10));
    cells.move(FIRST, SECOND);
    assertThat(allowed(SECOND, "b", 1)).isEqualTo(1);
    cells.forward(Duration.ofSeconds(10));
    String shorter = policy(HOURLY.replace("3600", "600"), QUICK.replace("per_s: 30", "per_s: 5"));
    move(SECOND, FIRST, () -> cells.activate(shorter));
    sound();
    cells.restart(FIRST);
    assertThat(allowed(FIRST, "a", 6)).as("no use is five seconds old").isEqualTo(5);
    cells.forward(Duration.ofSeconds(6));
    assertThat(allowed(FIRST, "a", 6)).as("nine of twelve are spent").isEqualTo(3);
    sound();
  }

  @Test
  void aBudgetAndARateThatPolicyHasNoMoreAndThenAgain() {
    assertThat(allowed(FIRST, "a", 4)).isEqualTo(4);
    move(FIRST, SECOND, () -> cells.activate(policy("", "")));
    sound();
    assertThat(allowed(SECOND, "b", 6)).as("nothing limits it").isEqualTo(6);
    sound();
    cells.activate(POLICY);
    cells.move(SECOND, FIRST);
    sound();
    cells.activate(policy("", ""));
    cells.activate(POLICY);
    cells.move(FIRST, SECOND);
    sound();
    allowed(SECOND, "b", 1);
    sound();
  }

  // Keys.

  private void enrolAnother() {
    cells.change(
        cells
            .home(0)
            .enrolment(TestKeys.trusted("guardian-2", KeyRole.GUARDIAN, Optional.empty())));
  }

  private void revokeGuardian() {
    cells.change(
        cells
            .home(0)
            .change(
                EventKind.KEY_REVOKED,
                JsonValue.object().put("kid", TestKeys.key("guardian").kid()).build()));
  }

  @Test
  void theGuardiansKeyIsReplacedAfterItLeft() {
    assertThat(allowed(FIRST, "a", 4)).isEqualTo(4);
    move(
        FIRST,
        SECOND,
        () -> {
          enrolAnother();
          revokeGuardian();
        });
    sound();
  }

  @Test
  void aGuardianWhoseKeyIsRevokedLetsNobodyLeave() {
    allowed(FIRST, "a", 4);
    cells.follow(cells.state(FIRST, SECOND));
    revokeGuardian();
    long size = cells.home(FIRST).ledger().treeSize();
    assertThat(cells.goOn(FIRST).waiting().get(TestKeys.TENANT).code().code()).isEqualTo("CAN-055");
    assertThat(cells.home(FIRST).ledger().treeSize())
        .as("what no other cell would take is not stated")
        .isEqualTo(size);
    assertThat(cells.goOn(SECOND).waiting().get(TestKeys.TENANT).code().code())
        .isEqualTo("EXE-967");
    sound();
  }

  // Clocks.

  @Test
  void theFormerCellsClockWasAheadAndIsCorrected() {
    assertThat(allowed(FIRST, "a", 2)).isEqualTo(2);
    cells.leap(FIRST, Duration.ofMinutes(20));
    assertThat(allowed(FIRST, "a", 3)).isEqualTo(3);
    cells.follow(cells.state(FIRST, SECOND));
    assertThat(cells.goOn(FIRST).departed()).containsExactly(TestKeys.TENANT);
    cells.leap(FIRST, Duration.ofMinutes(-20));
    assertThat(cells.goOn(SECOND).waiting().get(TestKeys.TENANT).code().code())
        .as("the time at which it left is to come")
        .isEqualTo("EXE-967");
    cells.forward(Duration.ofMinutes(21));
    assertThat(cells.goOn(SECOND).arrived()).containsExactly(TestKeys.TENANT);
    assertThat(allowed(SECOND, "b", 5)).isEqualTo(5);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", 5)).as("ten of twelve are spent").isEqualTo(2);
    sound();
  }

  @Test
  void theNewCellsClockIsCorrectedAfterTheArrival() {
    assertThat(allowed(FIRST, "a", 4)).isEqualTo(4);
    cells.leap(SECOND, Duration.ofMinutes(40));
    cells.move(FIRST, SECOND);
    assertThat(allowed(SECOND, "b", 2)).isEqualTo(2);
    cells.leap(SECOND, Duration.ofMinutes(-40));
    sound();
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", 5)).isEqualTo(5);
    cells.forward(Duration.ofMinutes(1));
    assertThat(allowed(SECOND, "b", 5)).as("eleven of twelve are spent").isEqualTo(1);
    sound();
    cells.move(SECOND, FIRST);
    assertThat(allowed(FIRST, "a", 1)).isZero();
    sound();
  }

  // What the audit finds.

  private AuditReport forged(Rewrite rewrite) {
    LedgerConfig config =
        new LedgerConfig(
            dir.resolve("forged"),
            dir.resolve("forged.anchor"),
            cells.home(FIRST).ledger().origin(),
            TestKeys.key("log"),
            cells.home(FIRST).clock);
    rewrite.write(config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      return Audit.check(
          reader, new Tools(cells.home(FIRST).tools, cells.home(FIRST).drivers), (_, _) -> {});
    }
  }

  private List<String> atTheDeparture(Rewrite rewrite) {
    return forged(rewrite).problems().stream()
        .filter(problem -> problem.place().contains(EventKind.TENANT_DEPARTED))
        .map(problem -> problem.code().code() + " " + problem)
        .toList();
  }

  private Event departure() {
    return cells
        .home(FIRST)
        .last(TenantDeparted.RUN.tenant(), TenantDeparted.RUN.run())
        .orElseThrow();
  }

  private static UnaryOperator<JsonValue.Obj> spent(long amount) {
    return said ->
        Rewrite.with(
            said,
            "amounts",
            JsonValue.of(
                ((JsonValue.Arr) said.get("amounts"))
                    .items().stream()
                        .map(JsonValue.Obj.class::cast)
                        .map(each ->
                            each.get("budget").equals(JsonValue.of("hourly"))
                                ? Rewrite.with(each, "amount", JsonValue.of(amount))
                                : each)
                        .map(JsonValue.class::cast)
                        .toList()));
  }

  /** The last of these decisions says that two steps were taken before it that nothing shows. */
  private Rewrite withAGap() {
    Event decided =
        cells.home(FIRST).events(TestKeys.TENANT, "a").stream()
            .filter(event -> event.kind().equals(EventKind.DECISION_MADE))
            .reduce((_, last) -> last)
            .orElseThrow();
    return new Rewrite(cells.home(FIRST).ledger())
        .document(
            decided.body(),
            decision -> {
              JsonValue.Obj inputs = (JsonValue.Obj) decision.get("inputs");
              long step = (long) ((JsonValue.Num) inputs.get("step")).value();
              return Rewrite.with(
                  decision, "inputs", Rewrite.with(inputs, "step", JsonValue.of(step + 2)));
            });
  }

  @Test
  void stepsThatTheLogLacksMayHaveSpentSomething() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    assertThat(atTheDeparture(withAGap())).isEmpty();
  }

  @Test
  void asManyAsTheLogLacks() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    assertThat(atTheDeparture(withAGap().document(departure().body(), spent(5)))).isEmpty();
  }

  @Test
  void andNotMore() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    assertThat(atTheDeparture(withAGap().document(departure().body(), spent(6))))
        .singleElement()
        .asString()
        .startsWith(AuditError.ACCOUNT.code())
        .contains("hourly");
  }

  @Test
  void aBudgetAndARateThatNoPolicyHas() {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    UnaryOperator<JsonValue.Obj> renamed =
        said ->
            (JsonValue.Obj)
                Jcs.parse(
                    new String(Jcs.write(said), StandardCharsets.UTF_8)
                        .replace("\"hourly\"", "\"hourlz\"")
                        .replace("\"quick\"", "\"quicl\"")
                        .getBytes(StandardCharsets.UTF_8));
    assertThat(
            atTheDeparture(
                new Rewrite(cells.home(FIRST).ledger()).document(departure().body(), renamed)))
        .hasSize(4)
        .allMatch(problem -> problem.startsWith(AuditError.ACCOUNT.code()))
        .anyMatch(problem -> problem.contains("budget hourlz"))
        .anyMatch(problem -> problem.contains("budget hourly"))
        .anyMatch(problem -> problem.contains("rate quicl"))
        .anyMatch(problem -> problem.contains("rate quick"));
  }

  /** The row with which the accounts begin in the new cell says something else. */
  private List<String> withAnotherRow(UnaryOperator<String> change) {
    allowed(FIRST, "a", 3);
    cells.move(FIRST, SECOND);
    Ledger ledger = (Ledger) cells.home(SECOND).ledger();
    String key = Accounts.ROW_PREFIX + departure().body().hex();
    String row = new String(ledger.get(Tables.ACCOUNT, key).orElseThrow(), StandardCharsets.UTF_8);
    byte[] other = change.apply(row).getBytes(StandardCharsets.UTF_8);
    assertThat(other).isNotEqualTo(row.getBytes(StandardCharsets.UTF_8));
    ledger.append(new Batch().put(Tables.ACCOUNT, key, other)).await();
    return Audited.report(cells.home(SECOND)).problems().stream()
        .filter(problem -> problem.place().contains(key))
        .map(problem -> problem.code().code() + " " + problem.place())
        .toList();
  }

  @Test
  void aRowOfAnotherBudgetThanArrived() {
    assertThat(withAnotherRow(row -> row.replace("\"hourly\"", "\"hourlz\"")))
        .hasSize(2)
        .allMatch(problem -> problem.startsWith(AuditError.ROW.code()))
        .anyMatch(problem -> problem.contains("hourlz"))
        .anyMatch(problem -> problem.contains("hourly"));
  }

  @Test
  void aRowWithoutTheUsesThatArrived() {
    assertThat(
            withAnotherRow(row -> {
              JsonValue.Obj all = (JsonValue.Obj) Jcs.parse(row.getBytes(StandardCharsets.UTF_8));
              JsonValue.Obj less = Rewrite.with(all, "marks", JsonValue.of(List.of()));
              return new String(Jcs.write(less), StandardCharsets.UTF_8);
            }))
        .singleElement()
        .asString()
        .startsWith(AuditError.ROW.code())
        .endsWith("/marks");
  }
}
