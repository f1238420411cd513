package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Await;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Intent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Promise 2: a request, an idempotency key and an intent each dispatch at most once; a repeat gets
 * the stored receipt and the stored output, the same bytes.
 */
class Promise02AtMostOneDispatchTest {
  private static final int THREADS = 64;

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private static void same(Served one, Served other) {
    assertThat(other.envelope().toBytes()).isEqualTo(one.envelope().toBytes());
    assertThat(other.output().orElseThrow()).isEqualTo(one.output().orElseThrow());
  }

  /** All at once, each on a thread of its own, none before all are ready. */
  private static <T> List<T> atOnce(Callable<T> task) throws Exception {
    CountDownLatch ready = new CountDownLatch(THREADS);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        futures.add(
            threads.submit(() -> {
              ready.countDown();
              ready.await();
              return task.call();
            }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"calc", "sim", "mail"})
  void one_request_from_64_threads_runs_once(String tool) throws Exception {
    byte[] request = home.ask("alice").tool(tool).bytes();
    List<Answer> answers = atOnce(() -> home.kernel().submit(request, List.of()));
    assertThat(home.driver.runs()).hasSize(1);
    Served first = answers.getFirst().served().orElseThrow();
    answers.forEach(answer -> same(first, answer.served().orElseThrow()));
    assertThat(answers.stream().filter(a -> !a.served().orElseThrow().repeated())).hasSize(1);
    assertThat(home.kinds("acme", "run-1")).hasSize(7);
  }

  @Test
  void one_intent_from_64_threads_runs_once() throws Exception {
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    List<Served> served = atOnce(() -> home.execute(decided, "alice"));
    assertThat(home.driver.runs()).hasSize(1);
    served.forEach(s -> same(served.getFirst(), s));
  }

  @Test
  void one_idempotency_key_from_64_threads_runs_once() throws Exception {
    List<Answer> answers =
        atOnce(() -> {
          TestRequest request;
          synchronized (home) {
            request = home.ask("alice").tool("mail").key("order-7");
          }
          return home.submit(request);
        });
    assertThat(home.driver.runs()).hasSize(1);
    Served first = answers.getFirst().served().orElseThrow();
    answers.forEach(answer -> same(first, answer.served().orElseThrow()));
  }

  @Test
  void requests_of_many_runs_at_once_each_run_once_and_chain() throws Exception {
    home.clock.stepping(Duration.ofMillis(1));
    int[] n = {0};
    List<Answer> answers =
        atOnce(() -> {
          TestRequest request;
          synchronized (home) {
            request = home.ask("alice").tool("mail").run("run-" + n[0]++ % 5);
          }
          return home.submit(request);
        });
    assertThat(home.driver.runs()).hasSize(THREADS);
    assertThat(answers.stream().map(a -> a.served().orElseThrow().id()).distinct())
        .hasSize(THREADS);
  }

  @Test
  void a_repeat_gets_the_same_bytes_also_after_a_restart_and_after_the_intent_expired() {
    Envelope request = home.ask("alice").tool("mail").sign();
    Answer first = home.submit(request);
    same(first.served().orElseThrow(), home.submit(request).served().orElseThrow());
    home.restart();
    home.clock.forward(Intent.LIFE_MAX.multipliedBy(3));
    same(first.served().orElseThrow(), home.submit(request).served().orElseThrow());
    Answer decided = home.decide(request);
    assertThat(decided.intent()).map(Envelope::id).isEqualTo(first.intent().map(Envelope::id));
    same(first.served().orElseThrow(), home.execute(decided, "alice"));
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void the_same_key_and_effect_get_the_stored_outcome_whatever_nonce_and_run() {
    Served first = home.submit(home.ask("alice").tool("mail").key("k")).served().orElseThrow();
    same(
        first,
        home.submit(home.ask("alice").tool("mail").key("k").run("run-2")).served().orElseThrow());
    home.restart();
    same(first, home.submit(home.ask("alice").tool("mail").key("k")).served().orElseThrow());
    assertThat(home.driver.runs()).hasSize(1);
    assertThat(home.kinds("acme", "run-2")).isEmpty();
  }

  @Test
  void the_same_key_with_another_effect_is_refused() {
    home.submit(home.ask("alice").tool("mail").key("k"));
    TestRequest other = home.ask("alice").tool("mail").key("k").params("{\"n\":2}");
    assertThat(Refused.code(() -> home.submit(other))).isEqualTo("EXE-110");
    Answer decided = home.decide(other.sign());
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-110");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void a_key_belongs_to_its_tenant_and_subject() {
    home.submit(home.ask("alice").tool("mail").key("k"));
    home.submit(home.ask("bob").tool("mail").key("k").run("run-b").params("{\"n\":2}"));
    home.submit(home.ask("eve").tool("mail").key("k").params("{\"n\":3}"));
    assertThat(home.driver.runs()).hasSize(3);
  }

  @Test
  void a_used_nonce_with_other_bytes_is_refused() {
    home.submit(home.ask("alice").tool("mail").nonce("once"));
    TestRequest again = home.ask("alice").tool("mail").nonce("once").params("{\"n\":2}");
    assertThat(Refused.code(() -> home.submit(again))).isEqualTo("GRD-007");
    home.restart();
    assertThat(Refused.code(() -> home.submit(again))).isEqualTo("GRD-007");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void of_two_intents_of_one_request_only_the_live_one_is_served() {
    Envelope request = home.ask("alice").tool("mail").sign();
    Answer first = home.decide(request);
    home.clock.forward(Intent.LIFE_MAX);
    Answer second = home.decide(request);
    assertThat(second.decision().supersedes()).contains(first.decisionEnvelope().id());
    assertThat(second.intent().orElseThrow().id()).isNotEqualTo(first.intent().orElseThrow().id());
    assertThat(Refused.code(() -> home.execute(first, "alice"))).isEqualTo("EXE-111");
    Served served = home.execute(second, "alice");
    assertThat(Refused.code(() -> home.execute(first, "alice"))).isEqualTo("EXE-111");
    same(served, home.execute(second, "alice"));
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void an_intent_that_was_refused_is_never_served_later() {
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    home.driver.refusesToPrepare(new IllegalStateException("no room"));
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-308");
    home.driver.refusesToPrepare(null);
    // What it had reserved was given back, so that it would run for nothing.
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-111");
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.kinds("acme", "run-1")).containsOnlyOnce("effect.refused");
  }

  @Test
  void an_idempotency_key_stays_taken_when_the_receipt_could_not_be_made() {
    home.restartWith(Faults::signingFails);
    TestRequest request = home.ask("alice").tool("mail").key("k");
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-801");
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-109");
    assertThat(Refused.code(() -> home.decide(request.sign()))).isEqualTo("EXE-109");
    TestRequest again = home.ask("alice").tool("mail").key("k");
    assertThat(Refused.code(() -> home.submit(again))).isEqualTo("EXE-109");
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-109");
    home.restartWith(e -> e);
    assertThat(home.submit(again).served().orElseThrow().receipt().status().text())
        .isEqualTo("in_doubt");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void while_it_runs_others_wait_for_the_winner() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("mail", Behaviours.blocks(begun, goOn));
    byte[] request = home.ask("alice").tool("mail").bytes();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Answer> winner = threads.submit(() -> home.kernel().submit(request, List.of()));
      begun.await();
      Future<Answer> loser = threads.submit(() -> home.kernel().submit(request, List.of()));
      assertThat(loser.isDone()).isFalse();
      assertThat(home.runState("acme", "run-1").unfinished().running()).isEqualTo(1);
      goOn.countDown();
      same(winner.get().served().orElseThrow(), loser.get().served().orElseThrow());
      assertThat(loser.get().served().orElseThrow().repeated()).isTrue();
    }
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void who_waited_for_a_lock_is_held_to_what_is_in_force_by_then() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("mail", Behaviours.blocks(begun, goOn));
    TestRequest first = home.ask("alice").tool("mail").key("k");
    TestRequest second = home.ask("alice").tool("mail").key("k");
    List<String> codes = new ArrayList<>();
    Thread winner = Thread.ofPlatform().start(() -> home.submit(first));
    begun.await();
    Thread waiting =
        Thread.ofPlatform().start(() -> codes.add(Refused.code(() -> home.submit(second))));
    Await.until(() -> waiting.getState() == Thread.State.WAITING);
    home.revoke("alice");
    goOn.countDown();
    winner.join();
    waiting.join();
    assertThat(codes).containsExactly("CAN-055");
    assertThat(home.driver.runs()).hasSize(1);
  }

  @Test
  void an_approved_request_is_served_once_however_often_it_is_approved() {
    Envelope request = home.ask("alice").tool("pay").sign();
    home.submit(request);
    home.approve(request, "rita");
    home.submit(request);
    home.submit(request);
    assertThat(
            Refused.code(() ->
                home.kernel().approve(home.approval(request, "roy", Approval.Verdict.APPROVE))))
        .isEqualTo("EXE-908");
    assertThat(home.driver.runs()).hasSize(1);
  }
}
