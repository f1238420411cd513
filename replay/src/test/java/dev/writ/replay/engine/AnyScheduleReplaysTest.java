package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Answer;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Sample;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever was asked, by several at once, with tools and keys that fail, restarts, other policies
 * and a moving clock: every run replays to the same bytes. {@code -Dwrit.seed=N} repeats one
 * schedule, {@code -Dwrit.steps=N} makes it longer.
 */
class AnyScheduleReplaysTest {
  private static final int ROUNDS = Integer.getInteger("writ.steps", 12);
  private static final List<String> TOOLS = List.of("calc", "sim", "mail", "pay");

  @TempDir Path dir;

  private TestHome home;
  private Random random;
  private final List<Envelope> asked = Collections.synchronizedList(new ArrayList<>());
  private final List<Answer> decided = Collections.synchronizedList(new ArrayList<>());
  private final List<Digest> receipts = Collections.synchronizedList(new ArrayList<>());

  static long[] seeds() {
    Long one = Long.getLong("writ.seed");
    return one == null ? new long[] {1, 2, 3, 4} : new long[] {one};
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void to_the_same_bytes(long seed) throws InterruptedException {
    System.out.println("writ.seed=" + seed);
    random = new Random(seed);
    home = Sample.home(dir);
    home.clock.stepping(Duration.ofMillis(3));
    for (int round = 0; round < ROUNDS; round++) {
      int before = random.nextInt(12);
      between(before);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        long own = random.nextLong();
        threads.add(Thread.ofVirtual().start(() -> caller(new Random(own))));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    home.restartWith(e -> e);
    List<RunId> runs = new ArrayList<>();
    home.ledger().runs(runs::add);
    runs.remove(SystemState.RUN);
    long effects = 0;
    for (RunId run : runs) {
      ReplayResult result = Replayed.completely(home, run);
      effects += result.events();
    }
    System.out.println(runs.size() + " runs of " + effects + " events");
    assertThat(effects).isGreaterThan(ROUNDS * 4L);
    home.close();
  }

  /** What one party does, beside others. */
  private void caller(Random dice) {
    for (int i = 0; i < 6; i++) {
      try {
        step(dice);
      } catch (WritException refused) {
        // a refusal is an answer too
      }
    }
  }

  private void step(Random dice) {
    switch (dice.nextInt(8)) {
      case 0, 1, 2 -> remember(home.submit(fresh(dice)));
      case 3 -> remember(home.decide(fresh(dice)));
      case 4 -> {
        Answer answer = any(decided, dice);
        home.execute(answer, answer.decision().scope().subject());
      }
      case 5 -> remember(home.submit(any(asked, dice)));
      case 6 -> {
        Envelope request = any(asked, dice);
        if (dice.nextInt(4) == 0) {
          home.reject(request, "rita");
        } else {
          home.approve(request, "rita");
        }
      }
      default -> home.clock.forward(Duration.ofMillis(dice.nextInt(60_000)));
    }
  }

  private static <T> T any(List<T> of, Random dice) {
    synchronized (of) {
      if (of.isEmpty()) {
        throw new WritException(ExecutorError.UNKNOWN_ID, "nothing yet");
      }
      return of.get(dice.nextInt(of.size()));
    }
  }

  private Envelope fresh(Random dice) {
    TestRequest request;
    synchronized (this) {
      request = home.ask(dice.nextBoolean() ? "alice" : "bob");
    }
    request.tool(TOOLS.get(dice.nextInt(TOOLS.size()))).params("{\"n\":" + dice.nextInt(5) + "}");
    request.run(request.request().scope().subject() + "-" + dice.nextInt(2));
    if (dice.nextInt(5) == 0) {
      request.key("key-" + dice.nextInt(4));
    }
    if (dice.nextInt(3) == 0 && !receipts.isEmpty()) {
      request.consumes(any(receipts, dice));
    }
    if (dice.nextInt(6) == 0) {
      request.dropOutput();
    }
    Envelope signed = request.sign();
    asked.add(signed);
    return signed;
  }

  private void remember(Answer answer) {
    if (answer.intent().isPresent()) {
      decided.add(answer);
    }
    answer.served().ifPresent(served -> receipts.add(served.id()));
  }

  /** What happens while nobody is at work. */
  private void between(int dice) {
    switch (dice) {
      case 0 -> home.driver.does("mail", Behaviours.fails());
      case 1 -> home.driver.does("calc", Behaviours.gives("{\"ok\":1}", Behaviours.JSON));
      case 2 -> home.driver.does("sim", Behaviours.throwing(new IllegalStateException("a bug")));
      case 3 -> home.driver.does("mail", Behaviours.ends(DriverOutcome.End.TIMED_OUT, "wall-time"));
      case 4 -> {
        home.driver.does("mail", Behaviours::echo);
        home.driver.does("calc", Behaviours::echo);
        home.driver.does("sim", Behaviours::echo);
      }
      case 5 -> home.activate(TestPolicy.YAML.replace("limit: 100000", "limit: " + (1000 + dice)));
      case 6 -> home.clock.forward(Duration.ofMinutes(6));
      case 7 -> home.restartWith(AnyScheduleReplaysTest::cannotSign);
      case 8 -> home.restartWith(e -> e);
      case 9 -> resolve();
      default -> {
        // nothing this time
      }
    }
  }

  private static SafeExecutor cannotSign(SafeExecutor e) {
    int[] recovering = {0};
    return KernelSeam.with(
        e,
        e.receipt()
            .withSigner((type, document) -> {
              if (recovering[0]++ > 2) {
                throw new IllegalStateException("no key");
              }
              return Envelope.sign(type, document, TestKeys.key("executor"));
            }));
  }

  private void resolve() {
    home.rows(Tables.DOUBT).stream()
        .filter(k -> home.ledger().get(Tables.DOUBT, k).orElseThrow().length == 0)
        .findFirst()
        .ifPresent(row ->
            home.kernel()
                .resolve(
                    home.resolution(
                        home.kernel().receipt("acme", Digest.parse("sha256:" + row)),
                        Resolution.Found.CANNOT_BE_KNOWN)));
  }
}
