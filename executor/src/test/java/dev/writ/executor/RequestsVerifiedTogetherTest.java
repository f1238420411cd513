package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopeBatch;
import dev.writ.canonicalize.dsse.SignatureCheck;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.Admission;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that wait at the same time: the verdicts are those of each alone, and nobody hangs. */
class RequestsVerifiedTogetherTest {
  private static final int MANY = 40;
  private static final String ADMITTED = "admitted";

  @TempDir Path dir;
  private TestHome home;

  /** Callers that have not begun; each one that lets others run begins the next. */
  private final ArrayDeque<Runnable> callers = new ArrayDeque<>();

  private final List<Integer> batches = new ArrayList<>();
  private Predicate<EnvelopeBatch> equation = EnvelopeBatch::verify;

  private final BatchedSignatureCheck shared =
      new BatchedSignatureCheck(
          this::runTheNext,
          batch -> {
            batches.add(batch.items().size());
            return equation.test(batch);
          });

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private void runTheNext() {
    while (!callers.isEmpty()) {
      callers.poll().run();
    }
  }

  /** From bytes, as a caller's: the object that was signed here knows that its signature holds. */
  private Envelope good(String subject) {
    return Envelope.parse(home.ask(subject).run(subject).tool("mail").bytes());
  }

  private List<Envelope> good(int count) {
    List<Envelope> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      requests.add(good(i % 3 == 0 ? "bob" : "alice"));
    }
    return requests;
  }

  /** The payload of one under the signature of another. */
  private Envelope forged() {
    return Forgery.keepingSignatures(good("alice"), good("alice").document());
  }

  private String admit(Envelope request, SignatureCheck check) {
    SystemState state = home.kernel().system();
    return outcome(() ->
        Admission.readmit(
            request,
            state.trust(),
            state.policyInForce(),
            home.clock.instant(),
            home.clock.instant(),
            check));
  }

  private static String outcome(Refused.Attempt attempt) {
    try {
      attempt.make();
      return ADMITTED;
    } catch (WritException e) {
      return e.code().code();
    }
  }

  /** The verdicts on requests all of which wait before the first one is verified. */
  private List<String> together(List<Envelope> requests) {
    String[] verdicts = new String[requests.size()];
    List<BatchedSignatureCheck.Presence> present = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      int place = i;
      present.add(shared.enter());
      callers.add(() -> verdicts[place] = admit(requests.get(place), shared));
    }
    runTheNext();
    present.forEach(BatchedSignatureCheck.Presence::close);
    return List.of(verdicts);
  }

  private List<String> singly(List<Envelope> requests) {
    return requests.stream()
        .map(request -> admit(Envelope.parse(request.toBytes()), SignatureCheck.SINGLY))
        .toList();
  }

  @Test
  void requests_that_wait_together_are_one_batch() {
    assertThat(together(good(MANY))).containsOnly(ADMITTED);
    assertThat(batches).containsExactly(MANY);
  }

  @Test
  void few_callers_and_one_alone_verify_directly() {
    BatchedSignatureCheck direct =
        new BatchedSignatureCheck(
            () -> {
              throw new AssertionError("gathers");
            },
            _ -> {
              throw new AssertionError("a batch");
            });
    try (BatchedSignatureCheck.Presence _ = direct.enter()) {
      assertThat(admit(good("alice"), direct)).isEqualTo(ADMITTED);
      assertThat(admit(forged(), direct)).isEqualTo("CAN-060");
    }
    assertThat(together(good(EnvelopeBatch.least() - 1))).containsOnly(ADMITTED);
    assertThat(batches).isEmpty();
  }

  @Test
  void too_few_in_a_batch_are_verified_singly() {
    List<BatchedSignatureCheck.Presence> elsewhere = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      elsewhere.add(shared.enter());
    }
    assertThat(together(good(5))).containsOnly(ADMITTED);
    assertThat(batches).isEmpty();
    elsewhere.forEach(BatchedSignatureCheck.Presence::close);
  }

  @Test
  void a_batch_is_not_longer_than_the_limit() {
    int most = BatchedSignatureCheck.MOST;
    assertThat(together(good(most + MANY))).containsOnly(ADMITTED);
    assertThat(batches).containsExactlyInAnyOrder(most, MANY);
  }

  /** Promise 1, both ways: whatever a forger changes is refused alike, alone and in company. */
  @Test
  void every_forgery_among_good_requests_has_the_verdict_that_it_has_alone() {
    Envelope request = good("alice");
    List<Envelope> requests = new ArrayList<>(good(MANY));
    for (Forgery.Change change : Forgery.changes(request)) {
      requests.add(Forgery.keepingSignatures(request, change.document()));
      requests.add(Envelope.parse(Forgery.signedBy(request, change.document(), "alice").toBytes()));
    }
    for (String key : List.of("bob", "executor", "guardian", "owner", "eve", "unknown")) {
      requests.add(Envelope.parse(Forgery.signedBy(request, key).toBytes()));
    }
    Random random = new Random(20261127);
    for (int round = 0; round < 4; round++) {
      Collections.shuffle(requests, random);
      List<Envelope> fresh = requests.stream().map(r -> Envelope.parse(r.toBytes())).toList();
      List<String> expected = singly(fresh);
      assertThat(expected).contains(ADMITTED, "CAN-060", "CAN-052", "CAN-053", "GRD-003");
      assertThat(together(fresh)).isEqualTo(expected);
    }
    assertThat(batches).isNotEmpty();
  }

  @Test
  void after_a_bad_signature_requests_are_verified_singly_for_a_while() {
    List<Envelope> requests = good(MANY);
    requests.set(17, forged());
    List<String> verdicts = together(requests);
    assertThat(verdicts.get(17)).isEqualTo("CAN-060");
    assertThat(Collections.frequency(verdicts, ADMITTED)).isEqualTo(MANY - 1);
    byte[] one = good("alice").toBytes();
    List<Envelope> next = new ArrayList<>(List.of(forged()));
    while (next.size() < BatchedSignatureCheck.SINGLY_AFTER_A_BAD_ONE) {
      next.add(Envelope.parse(one));
    }
    assertThat(together(next).indexOf("CAN-060")).isZero();
    assertThat(batches).containsExactly(MANY);
    assertThat(together(good(MANY))).containsOnly(ADMITTED);
    assertThat(batches).containsExactly(MANY, MANY);
  }

  /** Nor does a batch decide anything: this one says yes and has verified nothing. */
  @Test
  void an_interrupted_caller_verifies_alone_and_stays_interrupted() {
    List<Envelope> requests = good(MANY);
    requests.set(17, forged());
    List<String> expected = singly(requests);
    equation =
        _ -> {
          Thread.currentThread().interrupt();
          return true;
        };
    assertThat(together(requests)).isEqualTo(expected).contains("CAN-060");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void when_the_one_who_verifies_dies_the_others_verify_alone() throws Exception {
    CyclicBarrier all = new CyclicBarrier(MANY);
    BatchedSignatureCheck dying =
        new BatchedSignatureCheck(
            () -> await(all),
            _ -> {
              throw new StackOverflowError("for a test");
            });
    List<Envelope> requests = good(MANY);
    List<BatchedSignatureCheck.Presence> present = new ArrayList<>();
    requests.forEach(_ -> present.add(dying.enter()));
    int dead = 0;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> verdicts =
          requests.stream().map(r -> threads.submit(() -> admit(r, dying))).toList();
      for (Future<String> verdict : verdicts) {
        try {
          assertThat(verdict.get()).isEqualTo(ADMITTED);
        } catch (ExecutionException e) {
          assertThat(e).hasCauseInstanceOf(StackOverflowError.class);
          dead++;
        }
      }
    }
    assertThat(dead).isEqualTo(1);
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Many threads, as they come: with and without bad ones among them. */
  @Test
  void a_kernel_answers_many_at_once_as_it_answers_one_after_the_other() throws Exception {
    for (int round = 0; round < 2; round++) {
      List<Envelope> requests = good(3 * MANY);
      for (int i = 0; round == 1 && i < requests.size(); i += 7) {
        requests.set(i, forged());
      }
      List<String> expected = singly(requests);
      List<String> answers = new ArrayList<>();
      CountDownLatch ready = new CountDownLatch(requests.size());
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<String>> results = new ArrayList<>();
        for (Envelope request : requests) {
          Callable<String> caller =
              () -> {
                ready.countDown();
                ready.await();
                return outcome(() -> home.kernel().submit(request.toBytes(), List.of()));
              };
          results.add(threads.submit(caller));
        }
        for (Future<String> result : results) {
          answers.add(result.get());
        }
      }
      assertThat(answers).isEqualTo(expected);
    }
    assertThat(home.fsck().problems()).isEmpty();
  }
}
