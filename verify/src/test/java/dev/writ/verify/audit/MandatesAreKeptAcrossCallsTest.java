package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestMandate;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.error.AuditError;
import dev.writ.verify.testing.Sound;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A mandate of 90.00 EUR in all and three uses: whatever happens between its uses, and whoever uses
 * it, no more is spent, and the audit counts the same.
 */
class MandatesAreKeptAcrossCallsTest {
  private static final String WITHOUT =
      TestPolicy.YAML.replace(
          "{ effect: { tool: pay, operation: do }, require: { approvals: { role: reviewer, count:"
              + " 1 } } }",
          "{ effect: { tool: pay, operation: do }, require: { cel: 'false' } }");
  private static final String YAML =
      WITHOUT.replace(
              "{ cel: 'false' }",
              "{ mandate: { issuers: [bank], vct: mandate.payment.open.1, payee: /payee, amount:"
                  + " /amount, currency: EUR } }")
          + TestMandate.policySection();

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void open() {
    home = TestHome.create(dir.resolve("home"), YAML);
  }

  @AfterEach
  void close() {
    home.close();
  }

  private TestRequest asks(String agent, long amount) {
    return home.ask(agent)
        .run("run-of-" + agent)
        .tool("pay")
        .params("{\"amount\":" + amount + ",\"payee\":\"shop\"}");
  }

  /** A payment under the one mandate. */
  private Answer pay(TestRequest request, String agent) {
    Envelope mandate =
        TestMandate.open(TestHome.START, text -> text).envelope(request.request(), agent);
    return home.kernel().submit(request.evidence(List.of(mandate.id())).sign(), List.of(mandate));
  }

  private String pay(long amount) {
    return outcome(pay(asks("alice", amount), "alice"));
  }

  private static String outcome(Answer answer) {
    return answer.decision().code().orElse(answer.decision().verdict().name());
  }

  @Test
  void theTotalAndTheUsesAreKept() {
    assertThat(pay(5000)).isEqualTo("ALLOW");
    assertThat(pay(4001)).isEqualTo("GRD-629");
    assertThat(outcome(pay(asks("bob", 2000), "bob"))).isEqualTo("ALLOW");
    assertThat(pay(100)).isEqualTo("ALLOW");
    assertThat(pay(100)).isEqualTo("GRD-629");
    Sound.require(home);
  }

  @Test
  void restartsAndCrashesLeaveThem() {
    assertThat(pay(5000)).isEqualTo("ALLOW");
    home.restart();
    assertThat(pay(4001)).isEqualTo("GRD-629");
    home.crash();
    home.restart();
    assertThat(pay(4001)).isEqualTo("GRD-629");
    assertThat(pay(4000)).isEqualTo("ALLOW");
    Sound.require(home);
  }

  /** Past every window of the policy's own budgets, while the mandate still lives. */
  @Test
  void timeAndAnotherPolicyLeaveThem() {
    assertThat(pay(5000)).isEqualTo("ALLOW");
    home.clock.forward(Duration.ofMinutes(30));
    assertThat(home.submit(home.ask("alice")).decision().verdict()).isEqualTo(Verdict.ALLOW);
    home.activate(WITHOUT);
    assertThat(pay(1000)).isEqualTo("GRD-102");
    home.restart();
    home.activate(YAML);
    assertThat(pay(4001)).isEqualTo("GRD-629");
    Sound.require(home);
  }

  @Test
  void ofTwoAtOnceOnlyOneIsAllowed() {
    for (int round = 0; round < 5; round++) {
      CyclicBarrier both = new CyclicBarrier(2);
      List<TestRequest> requests = List.of(asks("alice", 5000), asks("bob", 5000));
      List<CompletableFuture<String>> answers =
          IntStream.range(0, 2)
              .mapToObj(i -> CompletableFuture.supplyAsync(() -> meet(both, requests.get(i), i)))
              .toList();
      List<String> outcomes = answers.stream().map(CompletableFuture::join).sorted().toList();
      assertThat(outcomes)
          .isEqualTo(round == 0 ? List.of("ALLOW", "GRD-629") : List.of("GRD-629", "GRD-629"));
    }
    Sound.require(home);
  }

  private String meet(CyclicBarrier both, TestRequest request, int number) {
    try {
      both.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return outcome(pay(request, number == 0 ? "alice" : "bob"));
  }

  /**
   * A guardian's thief allows what is spent: he has to say that less was taken, or that more is.
   */
  @Test
  void theAuditFindsABalanceThatIsNotTheSum() {
    pay(5000);
    Answer second = pay(asks("alice", 2000), "alice");
    LedgerConfig config =
        new LedgerConfig(
            dir.resolve("forged"),
            dir.resolve("forged.anchor"),
            TestHome.ORIGIN,
            TestKeys.key("log"),
            home.clock);
    List<JsonValue> balances = ((JsonValue.Arr) second.decision().inputs().get("balances")).items();
    int account =
        IntStream.range(0, balances.size())
            .filter(i ->
                ((JsonValue.Obj) balances.get(i))
                    .get("budget")
                    .equals(JsonValue.of("mandate/amount")))
            .findFirst()
            .orElseThrow();
    new Rewrite(home.ledger())
        .document(
            second.decisionEnvelope().id(),
            decision -> {
              JsonValue.Obj inputs = (JsonValue.Obj) decision.get("inputs");
              List<JsonValue> changed = new java.util.ArrayList<>(balances);
              changed.set(
                  account,
                  Rewrite.with((JsonValue.Obj) balances.get(account), "used", JsonValue.of(4000)));
              return Rewrite.with(
                  decision, "inputs", Rewrite.with(inputs, "balances", JsonValue.of(changed)));
            })
        .write(config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      AuditReport report = Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
      assertThat(report.problems())
          .extracting(AuditReport.Problem::code)
          .containsExactly(AuditError.ACCOUNT);
      assertThat(report.problems().getFirst().place()).endsWith("/inputs/balances/" + account);
    }
  }

  /** What was issued is named by what its issuer signed, however it is brought. */
  @Test
  void aNewSignatureIsNoNewMandate() {
    assertThat(pay(5000)).isEqualTo("ALLOW");
    TestRequest request = asks("alice", 4001);
    Envelope mandate =
        TestMandate.open(TestHome.START, text -> text)
            .presented(TestMandate::otherS)
            .envelope(request.request(), "alice");
    Answer answer =
        home.kernel().submit(request.evidence(List.of(mandate.id())).sign(), List.of(mandate));
    assertThat(answer.decision().code()).isEqualTo(Optional.of("GRD-629"));
  }
}
