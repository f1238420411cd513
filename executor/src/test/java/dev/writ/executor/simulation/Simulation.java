package dev.writ.executor.simulation;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.Served;
import dev.writ.executor.Stage;
import dev.writ.executor.StageObserver;
import dev.writ.executor.SystemState;
import dev.writ.executor.audit.Audit;
import dev.writ.executor.audit.AuditReport;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.Outcome;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
import dev.writ.executor.testing.Behaviours;
import dev.writ.executor.testing.SeededRandom;
import dev.writ.executor.testing.TestDriver;
import dev.writ.executor.testing.TestKeys;
import dev.writ.executor.testing.TestPolicy;
import dev.writ.executor.testing.TestRequest;
import dev.writ.executor.testing.TestTools;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * One schedule: a kernel over a ledger in memory lives several times, each time with callers at
 * once, faults, jumps of the clock and, mostly, a crash; then it is looked at what is left. All of
 * it follows from the seed.
 */
final class Simulation {
  private static final Instant START = Instant.parse("2026-11-21T12:00:00.000Z");
  private static final String ORIGIN = "writ.example/log";
  private static final int LIVES = 5;
  private static final int CALLERS = 4;
  private static final int CALLS = 5;
  private static final List<Duration> JUMPS =
      List.of(
          Duration.ofSeconds(1),
          Duration.ofSeconds(40),
          Duration.ofSeconds(90),
          Duration.ofMinutes(6),
          Duration.ofHours(7),
          Duration.ofDays(2));
  private static final LedgerConfig LEDGER =
      new LedgerConfig(
          Path.of("nowhere"),
          Path.of("nowhere.json"),
          ORIGIN,
          TestKeys.key("log"),
          InstantSource.fixed(START));
  private static final TestTools TOOLS = TestTools.standard();
  private static final MemoryStore FOUNDED = founded();

  /** What a schedule did, and what does not hold afterwards. */
  record Result(Counts counts, List<String> wrong, Digest root) {}

  /** How much was tried. */
  static final class Counts {
    long steps;
    long crashes;
    long failedWrites;
    long jumps;
    long calls;
    long events;
    long inDoubt;
    long acknowledged;
    final TreeMap<String, Long> outcomes = new TreeMap<>();
  }

  private final SplittableRandom random;
  private final Counts counts = new Counts();
  private final List<String> wrong = new ArrayList<>();
  private final TreeMap<String, Integer> effects = new TreeMap<>();
  private final TreeMap<Digest, byte[]> acknowledged = new TreeMap<>();
  private final List<Envelope> requests = new ArrayList<>();
  private final List<Answer> decided = new ArrayList<>();
  private final SeededRandom seeds;
  private Instant now = START;
  private long elapsed;
  private boolean calm;
  private int names;
  private MemoryStore store = FOUNDED;
  private Scheduler scheduler;
  private Kernel kernel;
  private int running;

  Simulation(long seed) {
    this.random = new SplittableRandom(seed);
    this.seeds = new SeededRandom(seed);
  }

  private static MemoryStore founded() {
    MemoryStore store = MemoryStore.fresh(ORIGIN);
    Scheduler scheduler = new Scheduler(new SplittableRandom(0));
    scheduler
        .thread(() -> {
          try (Ledger ledger = store.ledger(LEDGER, scheduler::thread)) {
            Kernel.found(
                ledger,
                TestKeys.PARTIES.stream()
                    .map(p -> change(EventKind.KEY_ENROLLED, p.trusted().toJson(), START))
                    .toList(),
                signed(TestPolicy.first(TestPolicy.YAML, TOOLS)),
                InstantSource.fixed(START),
                new SeededRandom(0));
          }
        })
        .start();
    while (scheduler.step()) {
      continue;
    }
    return store;
  }

  private static Envelope signed(Policy policy) {
    return Envelope.sign(SystemState.POLICY_TYPE, policy.toJson(), TestKeys.key("owner"));
  }

  private static Envelope change(
      String kind, dev.writ.canonicalize.json.JsonValue.Obj detail, Instant at) {
    return Envelope.sign(
        SystemChange.TYPE, new SystemChange(kind, detail, at).toJson(), TestKeys.key("operator"));
  }

  Result run() {
    for (int life = 0; life < LIVES && wrong.isEmpty(); life++) {
      live(random.nextInt(4) > 0);
    }
    calm = true;
    if (wrong.isEmpty()) {
      now = now.plus(Duration.ofDays(1));
      last();
    }
    return new Result(counts, wrong, root);
  }

  private Digest root;

  // One life of the kernel.

  private void live(boolean crashes) {
    scheduler = new Scheduler(random);
    store = store.after(new Faults());
    running = 0;
    begin(() -> {
      open();
      for (int i = 0; i < CALLERS; i++) {
        begin(() -> {
          for (int call = 0; call < CALLS; call++) {
            call();
          }
        });
      }
    });
    long crashAt = crashes ? random.nextLong(400) : Long.MAX_VALUE;
    while (running > 0) {
      if (scheduler.steps() == crashAt) {
        counts.crashes++;
        break;
      }
      if (!scheduler.step()) {
        wrong.add("nobody can go on, " + running + " wait");
        break;
      }
    }
    counts.steps += scheduler.steps();
  }

  private void begin(Runnable work) {
    running++;
    scheduler
        .thread(() -> {
          try {
            work.run();
          } catch (WritException e) {
            count("start", Optional.of(e.code()));
            if (calm) {
              wrong.add("the last life ended: " + e);
            }
          } catch (Throwable e) {
            wrong.add(e + " at " + Arrays.toString(Arrays.copyOf(e.getStackTrace(), 4)));
          } finally {
            running--;
          }
        })
        .start();
  }

  private void open() {
    kernel = null;
    TestDriver driver = new TestDriver();
    for (String tool : List.of("calc", "mail", "pay", "sim")) {
      driver.does(tool, invocation -> effect(tool, invocation));
    }
    Kernel opened =
        Kernel.open(
            new KernelConfig(
                store.ledger(LEDGER, scheduler::thread),
                TestKeys.key("guardian"),
                TestKeys.key("executor"),
                TOOLS,
                List.of(driver),
                RunWorkspaces.NONE,
                this::clock,
                () -> elapsed,
                seeds));
    opened.observe(
        new StageObserver() {
          @Override
          public void begins(Stage stage) {
            scheduler.yield(3);
          }

          @Override
          public void ends(Stage stage, Optional<ErrorCode> refused) {}
        },
        CommitObserver.NONE);
    kernel = opened;
  }

  private Outcome effect(String tool, Invocation invocation) {
    String what = tool + " " + new String(Jcs.write(invocation.params()), StandardCharsets.UTF_8);
    effects.merge(what, 1, Integer::sum);
    scheduler.yield(1);
    if (!calm && random.nextInt(12) == 0) {
      jump();
    }
    return random.nextInt(10) == 0
        ? Behaviours.ends(Outcome.End.FAILED, "exit-1").run(invocation)
        : Behaviours.echo(invocation);
  }

  /** Read under a monitor, so nobody else comes in here. */
  private Instant clock() {
    pass(Duration.ofMillis(1 + random.nextInt(3)));
    if (!calm && random.nextInt(150) == 0) {
      jump();
    }
    return now;
  }

  /** Time that passes is the installation's idle time; back goes only the clock. */
  private void pass(Duration time) {
    now = now.plus(time);
    elapsed += Math.max(0, time.toNanos());
  }

  private void jump() {
    counts.jumps++;
    pass(JUMPS.get(random.nextInt(JUMPS.size())));
  }

  private final class Faults implements MemoryStore.Faults {
    @Override
    public void access() {
      scheduler.yield(calm ? 50 : 6);
    }

    @Override
    public MemoryStore.Fate write() {
      if (calm || random.nextInt(150) > 0) {
        return MemoryStore.Fate.DONE;
      }
      counts.failedWrites++;
      return random.nextBoolean() ? MemoryStore.Fate.FAILED : MemoryStore.Fate.FAILED_AND_THERE;
    }
  }

  // What callers do.

  private void call() {
    counts.calls++;
    int dice = random.nextInt(100);
    if (dice < 8) {
      twins();
    } else if (dice < 30) {
      attempt("submit", () -> submit(fresh()));
    } else if (dice < 52) {
      attempt("repeat", () -> submit(random.nextBoolean() ? newest() : any(requests)));
    } else if (dice < 62) {
      attempt("decide", () -> decide(random.nextBoolean() ? fresh() : any(requests)));
    } else if (dice < 72) {
      attempt("execute", this::execute);
    } else if (dice < 82) {
      attempt("approve", this::approve);
    } else if (dice < 86) {
      attempt("resolve", this::resolve);
    } else if (dice < 91) {
      attempt("close", this::close);
    } else if (dice < 95) {
      attempt("activate", this::activate);
    } else {
      attempt("enrol", this::enrol);
    }
  }

  /** Two calls with one request at once, as of a client that loses patience. */
  private void twins() {
    Envelope request = fresh();
    begin(() -> attempt("twin", () -> submit(request)));
    attempt("twin", () -> submit(request));
  }

  private void attempt(String what, Runnable action) {
    try {
      action.run();
      count(what, Optional.empty());
    } catch (WritException e) {
      count(what, Optional.of(e.code()));
    }
  }

  private void count(String what, Optional<ErrorCode> code) {
    counts.outcomes.merge(what + code.map(c -> " " + c.code()).orElse(" ok"), 1L, Long::sum);
  }

  private <T> T any(List<T> list) {
    if (list.isEmpty()) {
      throw new WritException(dev.writ.executor.ExecutorError.UNKNOWN_ID, "nothing yet");
    }
    return list.get(random.nextInt(list.size()));
  }

  /** Which somebody else may just be about to send. */
  private Envelope newest() {
    any(requests);
    return requests.getLast();
  }

  private Envelope fresh() {
    String agent = random.nextBoolean() ? "alice" : "bob";
    int number = names++;
    TestRequest request =
        new TestRequest(TestKeys.TENANT, agent, "nonce-" + (number % 40), now)
            .run(agent + random.nextInt(2))
            .tool(List.of("calc", "sim", "mail", "mail", "pay").get(random.nextInt(5)))
            .params("{\"n\":" + number + "}");
    if (random.nextInt(6) == 0) {
      String key = "key" + random.nextInt(3);
      request.key(key).tool("mail").params("{\"key\":\"" + agent + key + "\"}");
    }
    if (random.nextInt(5) == 0) {
      byte[] nowhere = {1};
      request.input("data", Digest.sha256(nowhere), 1);
    }
    Envelope signed = request.sign();
    requests.add(signed);
    return signed;
  }

  private void submit(Envelope request) {
    note(kernel.submit(request.toBytes(), List.of()));
  }

  private void decide(Envelope request) {
    note(kernel.decide(request.toBytes(), List.of()));
  }

  private void note(Answer answer) {
    if (answer.intent().isPresent()) {
      decided.add(answer);
    }
    answer.served().ifPresent(this::note);
  }

  /** A receipt that was handed out is the one of its request for good. */
  private void note(Served served) {
    byte[] bytes = served.envelope().toBytes();
    byte[] before = acknowledged.putIfAbsent(served.receipt().request(), bytes);
    if (before != null && !Arrays.equals(before, bytes)) {
      wrong.add("another receipt of " + served.receipt().request());
    }
  }

  private void execute() {
    Answer answer = any(decided);
    String agent = answer.decision().scope().subject();
    note(
        kernel.execute(
            answer.decisionEnvelope(),
            answer.intent().orElseThrow(),
            Envelope.sign(
                ExecutionOrder.TYPE,
                new ExecutionOrder(TestKeys.TENANT, answer.intent().orElseThrow().id(), now)
                    .toJson(),
                TestKeys.key(agent))));
  }

  private void approve() {
    Envelope request = any(requests);
    Request read = Request.read(request.document());
    note(
        kernel.approve(
            Envelope.sign(
                Approval.TYPE,
                new Approval(
                        read.scope().tenant(),
                        "rita",
                        "reviewer",
                        request.id(),
                        read.effect().digest(),
                        kernel.system().policyInForce().digest(),
                        Approval.Verdict.APPROVE,
                        now,
                        now.plusSeconds(3600))
                    .toJson(),
                TestKeys.key("rita"))));
  }

  private void resolve() {
    List<Digest> doubts = new ArrayList<>();
    kernel
        .ledger()
        .scan(
            Tables.DOUBT,
            "",
            (key, value) -> {
              if (value.length == 0) {
                doubts.add(Digest.parse("sha256:" + key));
              }
              return true;
            });
    Digest doubt = any(doubts);
    kernel.resolve(
        Envelope.sign(
            Resolution.TYPE,
            new Resolution(
                    TestKeys.TENANT,
                    doubt,
                    Resolution.Found.CANNOT_BE_KNOWN,
                    "looked",
                    List.of(),
                    now)
                .toJson(),
            TestKeys.key("operator")));
  }

  private void close() {
    String agent = random.nextBoolean() ? "alice" : "bob";
    kernel.closeRun(
        Envelope.sign(
            RunClose.TYPE,
            new RunClose(TestKeys.TENANT, agent + random.nextInt(2), now).toJson(),
            TestKeys.key(agent)));
  }

  private void activate() {
    Policy before = kernel.system().policyInForce();
    String yaml =
        random.nextBoolean()
            ? TestPolicy.YAML
            : TestPolicy.YAML
                .replace("window_s: 86400", "window_s: 60")
                .replace("request_age_max_s: 300", "request_age_max_s: 30");
    kernel.activate(signed(TestPolicy.after(before, yaml, TOOLS)));
  }

  private void enrol() {
    kernel.change(
        change(
            EventKind.KEY_ENROLLED,
            TestKeys.trusted("extra-" + names++, KeyRole.OPERATOR, Optional.empty()).toJson(),
            now));
  }

  // What is left.

  private void last() {
    scheduler = new Scheduler(random);
    store = store.after(new Faults());
    running = 0;
    begin(() -> {
      open();
      answered();
      AuditReport report =
          Audit.check(kernel.ledger(), new Tools(TOOLS, List.of(new TestDriver())), (_, _) -> {});
      report.problems().forEach(problem -> wrong.add(problem.toString()));
      // What the audit bears with in ledgers of before, no kernel writes any more.
      report.notVerified().stream().filter(line -> line.contains("bound 11")).forEach(wrong::add);
      counts.events = report.totals().events();
      root = kernel.ledger().root();
    });
    while (running > 0 && scheduler.step()) {
      continue;
    }
    effects.forEach((what, times) -> {
      if (times > 1 && !what.startsWith("calc ")) {
        wrong.add(what + " ran " + times + " times");
      }
    });
    counts.acknowledged = acknowledged.size();
  }

  /** A day later: whatever the ledger knows is answered, and no receipt is another one. */
  private void answered() {
    for (Envelope request : requests) {
      boolean known = kernel.ledger().get(Tables.REQUEST, Tables.key(request.id())).isPresent();
      boolean served = kernel.ledger().get(Tables.SERVED, Tables.key(request.id())).isPresent();
      if (acknowledged.containsKey(request.id()) && !served) {
        wrong.add("an acknowledged receipt is gone, of " + request.id());
      }
      try {
        Answer answer = kernel.decide(request.toBytes(), List.of());
        answer.served().ifPresent(this::note);
        counts.inDoubt +=
            answer.served().filter(s -> s.receipt().reason().equals("in-doubt")).isPresent()
                ? 1
                : 0;
        if (!known && answer.decision().verdict() == Verdict.ALLOW) {
          wrong.add("judged a day later: " + request.id());
        }
      } catch (WritException e) {
        boolean unseen = e.code() == dev.writ.guardian.GuardianError.REQUEST_NEVER_SEEN;
        boolean lapsed = known && !served;
        if (unseen == known || served || !unseen && !lapsed) {
          wrong.add(
              e.getMessage() + (known ? ", known" : ", unknown") + (served ? ", served" : ""));
        }
      }
    }
  }
}
