package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Answer;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestClock;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.verify.testing.Audited;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AHealthyLedgerHasNoProblemsTest {
  /** Small windows, a rate, a price: everything that accounts can hold. */
  static final String YAML =
      TestPolicy.SHARED.replace(
          "requirements:",
          """
            - { name: cost, scope: tool, unit: cost, limit: 100000, window_s: 600 }
            - { name: often, scope: subject, unit: calls, limit: 60, window_s: 60 }
          prices: { calc: 3, mail: 5, pay: 7, sim: 2 }
          temporal:
            rates:
              - { name: quick, scope: subject, limit: 50, per_s: 30 }
          requirements:\
          """);

  @TempDir Path dir;

  static List<Long> seeds() {
    Long wanted = Long.getLong("writ.seed");
    if (wanted != null) {
      return List.of(wanted);
    }
    List<Long> seeds = new ArrayList<>();
    for (long seed = 1; seed <= Integer.getInteger("writ.audit.seeds", 2); seed++) {
      seeds.add(seed);
    }
    return seeds;
  }

  static AuditReport audit(TestHome home) {
    return Audited.report(home);
  }

  @Test
  void aNewInstallationIsSound() {
    try (TestHome home = TestHome.create(dir)) {
      AuditReport report = audit(home);
      assertThat(report.problems()).isEmpty();
      assertThat(report.totals().requests()).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whateverTheKernelWroteOneAfterTheOther(long seed) {
    System.out.println("writ.seed=" + seed);
    try (TestHome home = TestHome.create(dir, YAML)) {
      home.clock.stepping(Duration.ofMillis(3));
      Schedule schedule = new Schedule(home, new Random(seed));
      for (int i = 0; i < 60; i++) {
        schedule.step(true);
      }
      AuditReport report = audit(home);
      assertThat(report.problems()).isEmpty();
      assertThat(report.totals().decisions()).isGreaterThan(20);
      home.restart();
      assertThat(audit(home).problems()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whateverEightThreadsWrote(long seed) throws Exception {
    System.out.println("writ.seed=" + seed);
    try (TestHome home = TestHome.create(dir, YAML);
        ExecutorService threads = Executors.newFixedThreadPool(8)) {
      home.clock.stepping(Duration.ofMillis(1));
      for (int round = 0; round < 2; round++) {
        List<Future<?>> all = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
          Schedule schedule = new Schedule(home, new Random(seed * 100 + round * 10 + t));
          all.add(
              threads.submit(() -> {
                for (int i = 0; i < 12; i++) {
                  schedule.step(false);
                }
              }));
        }
        assertThat(audit(home).problems()).as("beside the writer").isEmpty();
        for (Future<?> one : all) {
          one.get();
        }
        assertThat(audit(home).problems()).isEmpty();
        home.restart();
      }
      assertThat(audit(home).problems()).isEmpty();
    }
  }

  /** Steps that a kernel may be asked for, in an order that follows from a seed. */
  static final class Schedule {
    private static final List<String> RUNS = List.of("a", "b", "c");
    private static final List<String> AGENTS = List.of("alice", "bob", "eve");
    private static final List<String> TOOLS = List.of("calc", "calc", "sim", "mail", "pay", "gone");
    private final TestHome home;
    private final Random random;
    private final List<Envelope> pending = new ArrayList<>();
    private final List<Envelope> sent = new ArrayList<>();
    private final List<Digest> receipts = new ArrayList<>();
    private final List<Served> doubts = new ArrayList<>();
    private int version;

    Schedule(TestHome home, Random random) {
      this.home = home;
      this.random = random;
    }

    private <T> T any(List<T> list) {
      return list.get(random.nextInt(list.size()));
    }

    /** One step; a refusal is an answer too. */
    void step(boolean alone) {
      try {
        switch (random.nextInt(alone ? 16 : 10)) {
          case 0, 1, 2, 3, 4 -> submit();
          case 5 -> decide();
          case 6 -> repeat();
          case 7 -> approve();
          case 8 -> home.clock.forward(Duration.ofSeconds(random.nextInt(20)));
          case 9 -> close();
          case 10 -> home.clock.forward(Duration.ofSeconds(random.nextInt(400)));
          case 11 -> home.restart();
          case 12 -> home.activate(YAML.replace("60, window_s", (61 + ++version) + ", window_s"));
          case 13 -> crash();
          case 14 -> resolve();
          default -> withoutItsPolicy();
        }
      } catch (WritException e) {
        assertThat(e.code().code()).isNotBlank();
      }
    }

    private TestRequest ask() {
      String agent = any(AGENTS);
      TestRequest request =
          home.ask(agent)
              .run(agent + any(RUNS))
              .tool(any(TOOLS))
              .nonce("n" + random.nextLong())
              .params("{\"n\":" + random.nextInt(5) + "}");
      if (random.nextInt(4) == 0) {
        request.key("key" + random.nextInt(6));
      }
      if (random.nextInt(4) == 0 && !receipts.isEmpty() && !agent.equals("eve")) {
        request.consumes(any(receipts));
      }
      if (random.nextInt(6) == 0) {
        request.dropOutput();
      }
      return random.nextInt(12) == 0 ? request.sandbox("missing-box") : request;
    }

    private void keep(Envelope request, Answer answer) {
      sent.add(request);
      if (answer.decision().verdict() == Verdict.ESCALATE) {
        pending.add(request);
      }
      answer
          .served()
          .filter(s -> s.receipt().scope().tenant().equals(TestKeys.TENANT))
          .ifPresent(s -> receipts.add(s.id()));
    }

    private void submit() {
      if (random.nextInt(6) == 0) {
        home.driver.does(
            "calc",
            random.nextBoolean()
                ? Behaviours.ends(DriverOutcome.End.FAILED, "exit-1")
                : Behaviours.throwing(new IllegalStateException("broken")));
      } else {
        home.driver.does("calc", Behaviours::echo);
      }
      Envelope request = ask().sign();
      sent.add(request);
      keep(request, home.submit(request));
    }

    private void decide() {
      Envelope request = ask().sign();
      keep(request, home.decide(request));
    }

    private void repeat() {
      if (!sent.isEmpty()) {
        Envelope request = any(sent);
        keep(request, home.submit(request));
      }
    }

    private void approve() {
      if (!pending.isEmpty()) {
        Envelope request = any(pending);
        if (random.nextInt(4) == 0) {
          home.reject(request, "rita");
        } else {
          home.approve(request, "rita");
        }
      }
    }

    private void close() {
      if (random.nextInt(3) == 0) {
        String agent = any(AGENTS);
        String tenant = agent.equals("eve") ? TestKeys.OTHER_TENANT : TestKeys.TENANT;
        home.kernel().closeRun(home.close(tenant, agent + any(RUNS), agent));
      }
    }

    /** Dies between dispatch and receipt. */
    private void crash() {
      Envelope request = home.ask("bob").run("bob" + any(RUNS)).tool("mail").sign();
      home.driver.does(
          "mail",
          _ -> {
            home.beforeWrite(() -> {
              throw new IllegalStateException("the power is out");
            });
            return DriverOutcome.succeeded(
                "{\"ok\":true}".getBytes(StandardCharsets.UTF_8), Behaviours.JSON, Behaviours.USED);
          });
      try {
        home.submit(request);
      } catch (RuntimeException e) {
        assertThat(e).isNotNull();
      }
      home.beforeWrite(() -> {});
      home.driver.does("mail", Behaviours::echo);
      home.restart();
      Served served = home.submit(request).served().orElseThrow();
      if (served.receipt().status() == Status.IN_DOUBT) {
        doubts.add(served);
      }
    }

    private void resolve() {
      if (!doubts.isEmpty()) {
        Served doubt = doubts.removeLast();
        home.kernel().resolve(home.resolution(doubt, any(List.of(Resolution.Found.values()))));
      }
    }

    /**
     * Decided under one policy, executed under the next: refused, and judged anew when repeated.
     */
    private void withoutItsPolicy() {
      Envelope request = ask().sign();
      Answer answer = home.decide(request);
      keep(request, answer);
      home.activate(YAML.replace("60, window_s", (61 + ++version) + ", window_s"));
      if (answer.intent().isPresent()) {
        home.execute(answer, answer.decision().scope().subject());
      }
    }
  }

  @Test
  void theScheduleReachesWhatItIsThereFor() {
    try (TestHome home = TestHome.create(dir, YAML)) {
      home.clock.stepping(Duration.ofMillis(3));
      Schedule schedule = new Schedule(home, new Random(7));
      for (int i = 0; i < 150; i++) {
        schedule.step(true);
      }
      assertThat(home.log().stream().map(e -> e.kind()).distinct())
          .contains(
              "approval.received",
              "effect.refused",
              "receipt.signed",
              "doubt.resolved",
              "run.closed",
              "policy.activated");
      TestClock clock = home.clock;
      assertThat(clock.instant()).isAfter(TestHome.START);
      assertThat(audit(home).problems()).isEmpty();
    }
  }
}
