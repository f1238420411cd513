package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Budgets, rates and nonces: one owner, one step, one row for each request. */
class AccountsTest {
  private static final Policy CPU =
      World.policy(
          World.POLICY.replace(
              "requirements:",
              "  - { name: cpu, scope: tenant, unit: cpu_ms, limit: 10000, window_s: 60 }\n"
                  + "requirements:"));
  private static final Policy RATE =
      World.policy(
          World.POLICY.replace(
              "requirements:",
              "temporal:\n  rates: [ { name: burst, scope: subject, limit: 2, per_s: 10 } ]\n"
                  + "requirements:"));

  /** An admitted request that differs from others by its number; its signature is not needed. */
  private static Admitted admitted(int number, long cpuMs, Instant at) {
    World.RequestBuilder request = World.request().nonce("nonce-" + number);
    request.resources = new Resources(cpuMs, 1, 1, 1);
    request.at = at;
    return new Admitted(
        World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER),
        request.request(),
        Digest.sha256(("request " + number).getBytes(StandardCharsets.UTF_8)),
        World.keys().getFirst(),
        List.of(World.SUBJECT),
        at);
  }

  private static Decision judge(Accounts accounts, Policy policy, Admitted a, Instant now) {
    return accounts.judge(a, World.circumstances(), policy, World.trust(), now).decision();
  }

  private static JudgeInputs inputs(Decision decision) {
    return JudgeInputs.read(decision.inputs());
  }

  @Test
  void sixtyFourThreadsNeverOverdrawABudget() throws Exception {
    Accounts accounts = World.accounts(CPU);
    List<Admitted> requests = new ArrayList<>();
    for (int i = 0; i < 256; i++) {
      requests.add(admitted(i, 100 + i % 7, World.NOW));
    }
    CountDownLatch start = new CountDownLatch(64);
    List<Future<Decision>> results = new ArrayList<>();
    try (var threads = Executors.newFixedThreadPool(64)) {
      for (int i = 0; i < 256; i++) {
        Admitted a = requests.get(i);
        boolean gate = i < 64;
        results.add(
            threads.submit(() -> {
              if (gate) {
                start.countDown();
                start.await();
              }
              return judge(accounts, CPU, a, World.NOW);
            }));
      }
    }
    long reserved = 0;
    TreeMap<Long, Decision> bySteps = new TreeMap<>();
    for (int i = 0; i < 256; i++) {
      Decision decision = results.get(i).get();
      bySteps.put(inputs(decision).step(), decision);
      if (decision.verdict() == Verdict.ALLOW) {
        reserved += 100 + i % 7;
      } else {
        assertThat(decision.code()).contains("GRD-201");
      }
    }
    assertThat(reserved).isLessThanOrEqualTo(10_000).isGreaterThan(10_000 - 107);
    assertThat(bySteps).as("every judgement is a step of its own").hasSize(256);
  }

  @Test
  void settlesToWhatWasMeasuredAndReleasesWhatNeverRan() {
    Accounts accounts = World.accounts(CPU);
    Admitted a = admitted(1, 5_000, World.NOW);
    Admitted b = admitted(2, 5_000, World.NOW);
    assertThat(judge(accounts, CPU, a, World.NOW).verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, CPU, b, World.NOW).verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, CPU, admitted(3, 1, World.NOW), World.NOW).code())
        .contains("GRD-201");
    assertThat(accounts.settle(a.id(), 1_234)).hasSize(1);
    assertThat(accounts.release(b.id())).hasSize(1);
    assertThat(accounts.settle(a.id(), 99)).as("once").isEmpty();
    assertThat(accounts.release(a.id())).as("what was settled stays").isEmpty();
    Decision next = judge(accounts, CPU, admitted(4, 1, World.NOW), World.NOW);
    JudgeInputs.Balance cpu =
        inputs(next).balances().stream()
            .filter(balance -> balance.budget().equals("cpu"))
            .findFirst()
            .orElseThrow();
    assertThat(cpu.used()).isEqualTo(1_234);
    assertThat(cpu.reserved()).isZero();
    JudgeInputs.Balance calls = inputs(next).balances().getFirst();
    assertThat(calls.used()).as("the released call is given back").isEqualTo(1);
  }

  private static List<String> balances(Accounts accounts, Policy policy, String tenant) {
    return accounts.balances(policy, tenant, World.NOW).stream()
        .map(b -> b.budget() + " " + b.key() + " " + b.used() + "+" + b.reserved())
        .toList();
  }

  @Test
  void balancesAreOfEveryPrincipalOfTheTenantAndReserveNothing() {
    Policy policy =
        World.policy(
            World.POLICY
                .replace(
                    "roles:\n",
                    "  - { tenant: other, subject: stranger, roles: [analyst] }\nroles:\n")
                .replace(
                    "requirements:",
                    """
                      - { name: by-tool, scope: tool, unit: calls, limit: 9, window_s: 60 }
                      - { name: of-js, scope: role, unit: cpu_ms, limit: 9000, window_s: 60, match: { tool: js } }
                      - { name: theirs, scope: tenant, unit: calls, limit: 9, window_s: 60, match: { tenant: other } }
                    requirements:\
                    """));
    Accounts accounts = World.accounts(policy);
    Admitted settled = admitted(1, 5_000, World.NOW);
    judge(accounts, policy, settled, World.NOW);
    accounts.settle(settled.id(), 700);
    judge(accounts, policy, admitted(2, 3_000, World.NOW), World.NOW);
    List<String> acme =
        List.of(
            "by-tool [\"acme\",\"js\"] 1+1",
            "calls [\"acme\",\"lead\"] 0+0",
            "calls [\"acme\",\"owner\"] 0+0",
            "calls [\"acme\",\"researcher\"] 1+1",
            "of-js [\"acme\",\"analyst\"] 700+3000");
    assertThat(balances(accounts, policy, "acme")).isEqualTo(acme);
    assertThat(balances(accounts, policy, "acme")).as("it reserves nothing").isEqualTo(acme);
    assertThat(balances(accounts, policy, "other"))
        .containsExactly(
            "by-tool [\"other\",\"js\"] 0+0",
            "calls [\"other\",\"stranger\"] 0+0",
            "of-js [\"other\",\"analyst\"] 0+0",
            "theirs [\"other\"] 0+0");
    assertThat(balances(accounts, policy, "nobody's")).isEmpty();
  }

  @Test
  void whatIsInDoubtStaysCharged() {
    Accounts accounts = World.accounts(CPU);
    Admitted asked = admitted(1, 5_000, World.NOW);
    judge(accounts, CPU, asked, World.NOW);
    accounts.durable(asked.id()); // stays in memory where no row can be read back
    Accounts restarted = Accounts.restore(accounts.rows(), CPU, World.NOW);
    judge(restarted, CPU, admitted(2, 5_000, World.NOW), World.NOW);
    assertThat(judge(restarted, CPU, admitted(3, 1, World.NOW), World.NOW).code())
        .contains("GRD-201");
  }

  @Test
  void budgetWindowsEndOnTheMillisecond() {
    Accounts accounts = World.accounts(CPU);
    Instant last = World.NOW.plusSeconds(60).minusMillis(1);
    assertThat(judge(accounts, CPU, admitted(1, 5_000, last), last).verdict())
        .isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, CPU, admitted(2, 5_000, last), last).verdict())
        .isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, CPU, admitted(3, 1, last), last).code()).contains("GRD-201");
    Instant next = World.NOW.plusSeconds(60);
    assertThat(judge(accounts, CPU, admitted(4, 5_000, next), next).verdict())
        .isEqualTo(Verdict.ALLOW);
  }

  @Test
  void rateSpansSlideByTheMillisecond() {
    Accounts accounts = World.accounts(RATE);
    Instant t = World.NOW;
    assertThat(judge(accounts, RATE, admitted(1, 1, t), t).verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, RATE, admitted(2, 1, t), t.plusMillis(1)).verdict())
        .isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, RATE, admitted(3, 1, t), t.plusMillis(9_999)).code())
        .contains("GRD-303");
    assertThat(judge(accounts, RATE, admitted(4, 1, t), t.plusMillis(10_000)).verdict())
        .as("the first is out of the span")
        .isEqualTo(Verdict.ALLOW);
    assertThat(judge(accounts, RATE, admitted(5, 1, t), t.plusMillis(10_000)).code())
        .as("the second is not yet")
        .contains("GRD-303");
    assertThat(judge(accounts, RATE, admitted(6, 1, t), t.plusMillis(10_001)).verdict())
        .isEqualTo(Verdict.ALLOW);
  }

  @Test
  void whatWasReleasedStillCountsInTheRate() {
    Accounts accounts = World.accounts(RATE);
    for (int i = 1; i <= 2; i++) {
      Admitted a = admitted(i, 1, World.NOW);
      judge(accounts, RATE, a, World.NOW);
      accounts.release(a.id());
    }
    assertThat(judge(accounts, RATE, admitted(3, 1, World.NOW), World.NOW).code())
        .contains("GRD-303");
  }

  @Test
  void refusesANonceOfAnotherRequestAndForgetsWithTheWindow() {
    Accounts accounts = World.accounts(CPU);
    judge(accounts, CPU, admitted(1, 1, World.NOW), World.NOW);
    Admitted other =
        new Admitted(
            World.request().sign(),
            admitted(1, 2, World.NOW).request(),
            Digest.sha256(new byte[] {9}),
            World.keys().getFirst(),
            List.of(World.SUBJECT),
            World.NOW);
    assertThatThrownBy(() -> judge(accounts, CPU, other, World.NOW))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GuardianError.NONCE_REUSED));
  }

  @Test
  void deniedAndEscalatedRequestsReserveNothing() {
    Policy policy = World.policyRequiring("{ approvals: { role: reviewer, count: 1 } }");
    Accounts accounts = World.accounts(policy);
    Decision first = judge(accounts, policy, admitted(1, 1, World.NOW), World.NOW);
    assertThat(first.verdict()).isEqualTo(Verdict.ESCALATE);
    Decision second = judge(accounts, policy, admitted(2, 1, World.NOW), World.NOW);
    assertThat(inputs(second).balances().getFirst().reserved()).isZero();
    assertThat(accounts.settle(first.request(), 5)).isEmpty();
  }

  @Test
  void forgettingUndoesExactlyTheLastStep() {
    Accounts accounts = World.accounts(CPU);
    Admitted a = admitted(1, 4_000, World.NOW);
    List<String> empty = shown(accounts);
    judge(accounts, CPU, a, World.NOW);
    List<String> reserved = shown(accounts);
    accounts.settle(a.id(), 10);
    accounts.forget(a.id());
    assertThat(shown(accounts)).isEqualTo(reserved);
    accounts.forget(a.id());
    assertThat(shown(accounts)).isEqualTo(empty);
    assertThat(judge(accounts, CPU, admitted(2, 10_000, World.NOW), World.NOW).code())
        .as("above the role, not above the budget")
        .contains("GRD-406");
  }

  @Test
  void judgingAgainGivesTheEarlierReservationBackFirst() {
    Accounts accounts = World.accounts(CPU);
    Admitted a = admitted(1, 5_000, World.NOW);
    for (int i = 0; i < 5; i++) {
      assertThat(judge(accounts, CPU, a, World.NOW).verdict()).isEqualTo(Verdict.ALLOW);
    }
    Decision next = judge(accounts, CPU, admitted(2, 5_000, World.NOW), World.NOW);
    assertThat(next.verdict()).isEqualTo(Verdict.ALLOW);
  }

  @Test
  void anotherPolicyCountsWhatWasChargedBefore() {
    Accounts accounts = World.accounts(CPU);
    judge(accounts, CPU, admitted(1, 5_000, World.NOW), World.NOW);
    Policy longer =
        World.policy(
            World.POLICY.replace(
                "requirements:",
                "  - { name: cpu, scope: tenant, unit: cpu_ms, limit: 10000, window_s: 3600 }\n"
                    + "requirements:"));
    Decision next = judge(accounts, longer, admitted(2, 1, World.NOW), World.NOW);
    assertThat(inputs(next).balances()).anyMatch(b -> b.reserved() == 5_000);
  }

  private static List<String> shown(Accounts accounts) {
    return accounts.rows().stream()
        .map(row ->
            row.key()
                + " "
                + row.value().map(v -> new String(v, StandardCharsets.UTF_8)).orElse("-"))
        .toList();
  }

  /**
   * A random life of the accounts: after every step the rows stored so far restore accounts that
   * answer alike, and the sum of what is charged never passes the limit.
   */
  @Test
  void restoringFromRowsEqualsTheLiveState() {
    long seed = Long.getLong("writ.seed", 20261121L);
    System.out.println("writ.seed=" + seed);
    for (int round = 0; round < 20; round++) {
      Random random = new Random(seed + round);
      Policy policy = random.nextBoolean() ? CPU : RATE;
      Accounts live = World.accounts(policy);
      TreeMap<String, Accounts.Row> stored = new TreeMap<>();
      Instant now = World.NOW;
      for (int i = 0; i < 40; i++) {
        now = now.plusMillis(random.nextInt(20_000));
        Admitted a = admitted(random.nextInt(25), 1 + random.nextInt(4_000), now);
        store(stored, step(random, live, policy, a, now));
      }
      Accounts restored = Accounts.restore(stored.values(), policy, now);
      assertThat(shown(restored)).as("round " + round).isEqualTo(shown(live));
      Admitted probe = admitted(1_000, 1, now);
      JudgeInputs wanted = live.look(probe, World.circumstances(), policy, World.trust(), now);
      JudgeInputs found = restored.look(probe, World.circumstances(), policy, World.trust(), now);
      assertThat(found).as("round " + round).isEqualTo(wanted);
    }
  }

  private static void store(TreeMap<String, Accounts.Row> stored, List<Accounts.Row> rows) {
    for (Accounts.Row row : rows) {
      if (row.value().isPresent()) {
        stored.put(row.key(), row);
      } else {
        stored.remove(row.key());
      }
    }
  }

  private static List<Accounts.Row> step(
      Random random, Accounts live, Policy policy, Admitted a, Instant now) {
    return switch (random.nextInt(4)) {
      case 0 -> live.settle(a.id(), random.nextInt(3_000));
      case 1 -> live.release(a.id());
      default -> {
        try {
          yield live.judge(a, World.circumstances(), policy, World.trust(), now).rows();
        } catch (WritException e) {
          assertThat(e.code()).isEqualTo(GuardianError.REQUEST_SETTLED);
          yield List.of();
        }
      }
    };
  }

  @Test
  void rowsPastEveryWindowAreDeletedAFewAtATimeAndNeverTheNewest() {
    Accounts accounts = World.accounts(CPU);
    for (int i = 0; i < 100; i++) {
      judge(accounts, CPU, admitted(i, 1, World.NOW), World.NOW);
    }
    Instant later = World.NOW.plusSeconds(3 * 86_400);
    int before = accounts.rows().size();
    for (int i = 0; i < 10; i++) {
      List<Accounts.Row> rows =
          accounts
              .judge(admitted(200 + i, 1, later), World.circumstances(), CPU, World.trust(), later)
              .rows();
      assertThat(rows.stream().filter(r -> r.value().isEmpty()).count()).isLessThanOrEqualTo(16);
    }
    assertThat(before).isEqualTo(100);
    assertThat(accounts.rows()).hasSize(10);
    assertThat(inputs(judge(accounts, CPU, admitted(300, 1, later), later)).step()).isEqualTo(111);
    Accounts restarted = Accounts.restore(accounts.rows(), CPU, later);
    assertThat(inputs(judge(restarted, CPU, admitted(301, 1, later), later)).step()).isEqualTo(112);
  }

  @Test
  void aDamagedSummaryIsRefused() {
    String read =
        "{\"closed\":[],\"log_size\":9,\"opened\":[],\"policy\":\""
            + World.SNAPSHOT
            + "\",\"restarts\":0,\"step\":2,\"sums\":[],\"uses\":"
            + "[{\"key\":\"k\",\"rate\":\"slow\",\"times\":[1764201600123]}]}";
    assertThat(new String(summary(read).toBytes(), StandardCharsets.UTF_8)).isEqualTo(read);
    for (String time : List.of("\"1\"", "0.5", "null")) {
      assertThatThrownBy(() -> summary(read.replace("1764201600123", time)))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("times/0");
    }
  }

  private static AccountSummary summary(String text) {
    return AccountSummary.read(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aDamagedRowIsRefused() {
    assertThatThrownBy(() ->
            Accounts.restore(
                List.of(
                    new Accounts.Row(
                        Accounts.ROW_PREFIX + World.SNAPSHOT.hex(),
                        Optional.of("{}".getBytes(StandardCharsets.UTF_8)))),
                CPU,
                World.NOW))
        .isInstanceOf(WritException.class);
  }

  /** Somebody who was paused for more than a minute reads the clock again. */
  @Test
  void refusesAReadingThatIsFarBehindAnothers() {
    Accounts accounts = World.accounts(CPU);
    Instant latest = World.NOW.plusSeconds(60);
    judge(accounts, CPU, admitted(1, 1, World.NOW), latest);
    assertThat(judge(accounts, CPU, admitted(2, 1, World.NOW), World.NOW).verdict())
        .isEqualTo(Verdict.ALLOW);
    Admitted late = admitted(3, 1, World.NOW);
    assertThatThrownBy(() -> judge(accounts, CPU, late, World.NOW.minusMillis(1)))
        .hasMessageContaining("GRD-013");
    assertThat(judge(accounts, CPU, late, latest).inputs().toString()).contains("step");
  }
}
