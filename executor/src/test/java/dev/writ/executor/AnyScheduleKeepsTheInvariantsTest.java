package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.promises.FaultsSeam;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever is asked, in whatever order, with tools that fail, keys that fail, restarts, other
 * policies and a moving clock: the invariants hold after every step. {@code -Dwrit.seed=N} repeats
 * one schedule, {@code -Dwrit.steps=N} makes it longer.
 */
class AnyScheduleKeepsTheInvariantsTest {
  private static final int STEPS = Integer.getInteger("writ.steps", 200);
  private static final int WHOLE_EVERY = 50;
  private static final List<String> AGENTS = List.of("alice", "bob", "eve");
  private static final List<String> TOOLS = List.of("calc", "sim", "mail", "mail", "pay");

  @TempDir Path dir;

  private TestHome home;
  private SplittableRandom random;
  private boolean signing = true;
  private long pureMayRepeat;
  private final List<Envelope> requests = new ArrayList<>();
  private final List<Answer> decided = new ArrayList<>();
  private final List<Digest> receipts = new ArrayList<>();
  private final TreeMap<Digest, byte[]> served = new TreeMap<>();
  private final TreeMap<String, Integer> outcomes = new TreeMap<>();
  private final TreeMap<RunId, Chain> chains = new TreeMap<>();
  private final TreeMap<Digest, Receipt> signed = new TreeMap<>();

  /** A run's events as far as they were checked: what is written stays as it is. */
  private static final class Chain {
    Optional<Event> before = Optional.empty();
    Digest last;
    long lamport;
    long dispatched;
    long signed;
  }

  static long[] seeds() {
    Long one = Long.getLong("writ.seed");
    return one == null ? new long[] {1, 2, 3} : new long[] {one};
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void after_every_step(long seed) {
    System.out.println("writ.seed=" + seed);
    random = new SplittableRandom(seed);
    home = TestHome.create(dir, TestPolicy.SHARED);
    home.clock.stepping(Duration.ofMillis(1));
    for (int step = 0; step < STEPS; step++) {
      String outcome = step();
      outcomes.merge(outcome, 1, Integer::sum);
      check("seed " + seed + " step " + step + " " + outcome, step % WHOLE_EVERY == 0);
    }
    restart(true);
    check("seed " + seed + " at the end", true);
    assertThat(home.rows(Tables.DISPATCHED)).isEmpty();
    System.out.println(outcomes);
    // The schedule reached what it is about.
    assertThat(outcomes.keySet()).contains("submit ok", "repeat ok", "execute ok", "approve ok");
    home.stop();
  }

  private String step() {
    int dice = random.nextInt(100);
    if (dice < 30) {
      return attempt("submit", () -> remember(home.submit(fresh())));
    } else if (dice < 42) {
      return attempt("decide", () -> remember(home.decide(fresh())));
    } else if (dice < 54) {
      return attempt("repeat", () -> remember(home.submit(any(requests))));
    } else if (dice < 66) {
      return attempt("execute", this::execute);
    } else if (dice < 76) {
      return attempt("approve", this::approve);
    } else if (dice < 82) {
      behave();
      return "behave";
    } else if (dice < 88) {
      home.clock.forward(Duration.ofMillis(random.nextInt(400_000)));
      return "clock";
    } else if (dice < 93) {
      restart(random.nextInt(3) > 0);
      return "restart";
    } else if (dice < 95) {
      return attempt("activate", () -> home.activate(TestPolicy.SHARED));
    } else if (dice < 98) {
      return attempt("resolve", this::resolve);
    }
    return attempt("close", this::closeRun);
  }

  /** A refusal is an answer; anything else that is thrown is a fault. */
  private String attempt(String what, Runnable action) {
    try {
      action.run();
      return what + " ok";
    } catch (WritException e) {
      if (e.code() == ExecutorError.RECEIPT_FAILED) {
        pureMayRepeat++;
      }
      return what + " " + e.code().code();
    }
  }

  private <T> T any(List<T> of) {
    if (of.isEmpty()) {
      throw new WritException(ExecutorError.UNKNOWN_ID, "nothing yet");
    }
    return of.get(random.nextInt(of.size()));
  }

  private Envelope fresh() {
    String agent = AGENTS.get(random.nextInt(AGENTS.size()));
    TestRequest request =
        home.ask(agent)
            .tool(TOOLS.get(random.nextInt(TOOLS.size())))
            .run(agent + "-" + random.nextInt(3))
            .params("{\"n\":" + requests.size() + "}");
    if (random.nextInt(4) == 0) {
      String key = "key-" + random.nextInt(20);
      request.key(key).params("{\"key\":\"" + agent + key + "\"}").tool("mail");
    }
    if (random.nextInt(4) == 0 && !receipts.isEmpty()) {
      request.consumes(any(receipts));
    }
    if (random.nextInt(8) == 0) {
      request.dropOutput();
    }
    Envelope signed = request.sign();
    requests.add(signed);
    return signed;
  }

  private void remember(Answer answer) {
    if (answer.intent().isPresent()) {
      decided.add(answer);
    }
    answer.served().ifPresent(this::remember);
  }

  /** What was served once is served again, the same bytes. */
  private void remember(Served outcome) {
    byte[] bytes = outcome.envelope().toBytes();
    byte[] first = served.putIfAbsent(outcome.receipt().request(), bytes);
    assertThat(bytes).isEqualTo(first == null ? bytes : first);
    assertThat(outcome.repeated() || first == null).isTrue();
    if (first == null) {
      receipts.add(outcome.id());
    }
  }

  private void execute() {
    Answer answer = any(decided);
    remember(home.execute(answer, answer.decision().scope().subject()));
  }

  private void approve() {
    List<Envelope> pending =
        requests.stream()
            .filter(r -> home.rows(Tables.PENDING).stream().anyMatch(k -> k.endsWith(r.id().hex())))
            .toList();
    Envelope request = any(pending);
    String approver =
        Request.read(request.document()).scope().tenant().equals("other") ? "otto" : "rita";
    remember(
        random.nextInt(5) == 0 ? home.reject(request, approver) : home.approve(request, approver));
  }

  private void behave() {
    TestDriver.Behaviour behaviour =
        switch (random.nextInt(6)) {
          case 0 -> Behaviours.fails();
          case 1 -> Behaviours.throwing(new IllegalStateException("for a test"));
          case 2 -> Behaviours.gives("{\"ok\":1}", Behaviours.JSON);
          case 3 -> Behaviours.ends(DriverOutcome.End.TIMED_OUT, "wall-time");
          default -> Behaviours::echo;
        };
    home.driver.does(TOOLS.get(random.nextInt(TOOLS.size())), behaviour);
  }

  private void restart(boolean canSign) {
    signing = canSign;
    home.restartWith(executor -> executor);
    if (!signing) {
      home.restartWith(FaultsSeam::signingFailsAfterRecovery);
    }
  }

  private void resolve() {
    List<String> doubts =
        home.rows(Tables.DOUBT).stream()
            .filter(k -> home.ledger().get(Tables.DOUBT, k).orElseThrow().length == 0)
            .toList();
    Digest id = Digest.parse("sha256:" + any(doubts));
    Receipt receipt = Receipt.read(home.document(id).document());
    home.kernel()
        .resolve(
            home.resolution(
                home.kernel().receipt(receipt.scope().tenant(), id),
                Resolution.Found.CANNOT_BE_KNOWN));
  }

  private void closeRun() {
    String agent = any(AGENTS);
    String tenant = agent.equals("eve") ? "other" : "acme";
    home.kernel().closeRun(home.close(tenant, agent + "-" + random.nextInt(3), agent));
  }

  /** After each step what it added, and now and then everything from the beginning. */
  private void check(String when, boolean whole) {
    if (whole) {
      chains.clear();
      signed.clear();
    }
    atMostOneRun(when);
    accountsAreStored(when);
    List<RunId> runs = new ArrayList<>();
    home.ledger().runs(runs::add);
    runs.remove(SystemState.RUN);
    List<String> pending = home.rows(Tables.PENDING);
    List<RunId> inDoubt = inDoubt();
    for (RunId run : runs) {
      chain(when, run);
      counters(when, run, pending, inDoubt);
    }
    if (whole) {
      assertThat(home.fsck().problems()).as(when).isEmpty();
    }
  }

  private void atMostOneRun(String when) {
    TreeMap<String, Integer> ran = new TreeMap<>();
    TreeMap<String, Integer> pure = new TreeMap<>();
    for (TestDriver.Run run : home.driver.runs()) {
      String what =
          run.invocation().scope()
              + new String(Jcs.write(run.invocation().params()), StandardCharsets.UTF_8);
      (run.tool().equals("calc") ? pure : ran).merge(what, 1, Integer::sum);
    }
    ran.forEach((what, times) -> assertThat(times).as(when + ": " + what).isEqualTo(1));
    long repeated = pure.values().stream().mapToLong(times -> times - 1L).sum();
    assertThat(repeated).as(when).isLessThanOrEqualTo(pureMayRepeat);
  }

  private void accountsAreStored(String when) {
    TreeMap<String, String> stored = new TreeMap<>();
    home.ledger()
        .scan(
            Tables.ACCOUNT,
            "",
            (key, value) -> {
              stored.put(key, new String(value, StandardCharsets.UTF_8));
              return true;
            });
    TreeMap<String, String> held = new TreeMap<>();
    for (Accounts.Row row : home.kernel().accounts().rows()) {
      held.put(row.key(), new String(row.value().orElseThrow(), StandardCharsets.UTF_8));
    }
    assertThat(stored).as(when).containsAllEntriesOf(held);
    // What is durable need not be held, so what is not held must be stored while it counts.
    Duration young = Duration.ofSeconds(home.policy().limits().requestAgeMaxS() + 62);
    home.ledger()
        .scan(
            Tables.REQUEST,
            "",
            (key, value) -> {
              Instant until = RequestRow.parse(value).receivedAt().plus(young);
              if (until.isAfter(home.kernel().now())) {
                assertThat(stored).as(when).containsKey(Accounts.ROW_PREFIX + key);
              }
              return true;
            });
  }

  private void chain(String when, RunId run) {
    Chain chain = chains.computeIfAbsent(run, _ -> new Chain());
    long from = chain.before.map(event -> event.seq() + 1).orElse(0L);
    home.ledger()
        .events(
            run,
            from,
            event -> {
              assertThat(event.prev()).as(when).isEqualTo(chain.before.map(Event::id));
              chain.last = chain.last == null ? event.id() : chain.last;
              chain.before = Optional.of(event);
              chain.dispatched += event.kind().equals("effect.dispatched") ? 1 : 0;
              if (event.kind().equals("receipt.signed")) {
                receipt(when, chain, event.body());
              }
            });
    assertThat(chain.dispatched - chain.signed)
        .as(when)
        .isEqualTo(home.runState(run.tenant(), run.run()).unfinished().running());
  }

  private void receipt(String when, Chain chain, Digest id) {
    chain.signed++;
    Receipt receipt = signed(id);
    assertThat(receipt.prev()).as(when).isEqualTo(chain.last);
    long greatest = chain.lamport;
    for (Digest consumed : Request.read(home.document(receipt.request()).document()).consumes()) {
      greatest = Math.max(greatest, signed(consumed).lamport());
    }
    assertThat(receipt.lamport()).as(when).isEqualTo(greatest + 1);
    chain.lamport = receipt.lamport();
    chain.last = id;
  }

  private Receipt signed(Digest id) {
    return signed.computeIfAbsent(id, _ -> Receipt.read(home.document(id).document()));
  }

  /** The run of each receipt in doubt that nobody has resolved. */
  private List<RunId> inDoubt() {
    return home.rows(Tables.DOUBT).stream()
        .filter(k -> home.ledger().get(Tables.DOUBT, k).orElseThrow().length == 0)
        .map(k -> signed(Digest.parse("sha256:" + k)))
        .filter(r -> r.status() == Status.IN_DOUBT)
        .map(r -> new RunId(r.scope().tenant(), r.scope().run()))
        .toList();
  }

  private void counters(String when, RunId run, List<String> waiting, List<RunId> inDoubt) {
    RunState state = home.runState(run.tenant(), run.run());
    String prefix = Tables.prefix(run.tenant(), run.run());
    long pending = waiting.stream().filter(k -> k.startsWith(prefix)).count();
    assertThat(state.unfinished().pending()).as(when).isEqualTo(pending);
    assertThat(state.unfinished().inDoubt())
        .as(when)
        .isEqualTo(inDoubt.stream().filter(run::equals).count());
    assertThat(state.closed() && state.unfinished().running() > 0).as(when).isFalse();
  }
}
