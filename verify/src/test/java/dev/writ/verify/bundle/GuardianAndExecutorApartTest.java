package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.ApartExecutor;
import dev.writ.executor.apart.ApartOrder;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.apart.OrderEnded;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestExecutor;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestWorkspaces;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.testing.Audited;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A guardian that sees no tool, and an executor that believes signatures and its own log: what each
 * of them does when the other is gone, forgets, or lies (spec/apart.md).
 */
class GuardianAndExecutorApartTest {
  @TempDir Path dir;
  private TestHome home;
  private TestExecutor executor;

  @BeforeEach
  void start() {
    home = TestHome.create(dir.resolve("guardian"));
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    executor = TestExecutor.of(home, dir.resolve("executor"));
  }

  @AfterEach
  void stop() {
    assertThat(home.driver.runs()).as("tools that ran under the guardian").isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
    assertThat(Audited.report(home).problems()).isEmpty();
    executor.close();
    home.close();
  }

  private Served serve(TestRequest request) {
    return home.submit(request).served().orElseThrow();
  }

  private Receipt receipt(Served served) {
    return Receipt.read(served.envelope().document());
  }

  private String code(TestRequest request) {
    return Refused.code(() -> home.submit(request));
  }

  @Test
  void an_effect_is_done_there_and_its_receipt_is_here_and_there() {
    TestRequest asked = home.ask("alice").tool("mail");
    Served served = serve(asked);
    assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(served.output()).isPresent();
    assertThat(executor.driver.runs()).hasSize(1);
    assertThat(executor.ledger().document(served.id()).orElseThrow().toBytes())
        .isEqualTo(home.ledger().document(served.id()).orElseThrow().toBytes());
    Served again = serve(asked);
    assertThat(again.envelope().toBytes()).isEqualTo(served.envelope().toBytes());
    assertThat(again.output().orElseThrow()).isEqualTo(served.output().orElseThrow());
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void both_verifiers_take_the_bundle_of_a_closed_run(@TempDir Path opinions) {
    Served first = serve(home.ask("alice"));
    serve(home.ask("alice").tool("mail"));
    assertThat(home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}")).served())
        .isEmpty();
    executor.driver.does("mail", Behaviours.fails());
    assertThat(serve(home.ask("alice").tool("mail")).receipt().status()).isEqualTo(Status.FAILED);
    Served dropped = serve(home.ask("alice").tool("sim").dropOutput().consumes(first.id()));
    assertThat(dropped.output()).isPresent();
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    SecondOpinion both = new SecondOpinion();
    both.pinned(
        BundleExport.of(
            home.ledger(),
            new RunId("acme", "run-1"),
            Sample.packages(home),
            BundleExport.Options.WHOLE));
    both.compare(opinions);
    assertThat(executor.ledger().head(new RunId("acme", "run-1")).orElseThrow().kind())
        .isEqualTo("run.closed");
  }

  @Test
  void without_its_executor_a_guardian_dispatches_nothing() {
    executor.stop();
    TestRequest asked = home.ask("alice").tool("mail");
    assertThat(code(asked)).isEqualTo("EXE-930");
    assertThat(home.events("acme", "run-1")).isEmpty();
    executor.start();
    assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void what_its_key_did_not_sign_is_signed_once_it_is_back() {
    executor.keyIsAway(true);
    TestRequest asked = home.ask("alice").tool("mail");
    assertThat(code(asked)).isEqualTo("EXE-931");
    TestRequest second = home.ask("alice").tool("mail").run("run-2");
    assertThat(code(second)).isEqualTo("CAN-078");
    assertThat(home.events("acme", "run-2")).isEmpty();
    assertThat(executor.driver.runs()).hasSize(1);
    executor.keyIsAway(false);
    assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(serve(second).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(2);
  }

  @Test
  void a_lost_answer_is_found_again_and_nothing_is_done_twice() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.losesAnswers(true);
    assertThat(code(asked)).isEqualTo("EXE-931");
    assertThat(code(asked)).isEqualTo("EXE-931");
    executor.losesAnswers(false);
    assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void an_order_that_was_lost_is_never_begun() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.losesOrders(true);
    assertThat(code(asked)).isEqualTo("EXE-931");
    executor.losesOrders(false);
    Receipt never = receipt(serve(asked));
    assertThat(never.status()).isEqualTo(Status.FAILED);
    assertThat(never.code()).contains("EXE-936");
    assertThat(executor.driver.runs()).isEmpty();
    assertThat(serve(home.ask("alice").tool("mail")).receipt().prev()).isEqualTo(serve(asked).id());
  }

  @Test
  void a_guardian_that_was_killed_gets_the_receipt_when_it_starts() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.losesAnswers(true);
    assertThat(code(asked)).isEqualTo("EXE-931");
    executor.losesAnswers(false);
    home.restart();
    assertThat(home.rows("dispatched")).isEmpty();
    assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void a_guardian_starts_without_its_executor_and_asks_later() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.losesAnswers(true);
    assertThat(code(asked)).isEqualTo("EXE-931");
    executor.losesAnswers(false);
    executor.stop();
    home.restart();
    assertThat(home.kernel().settleAwaited()).isEqualTo(1);
    executor.start();
    assertThat(home.kernel().settleAwaited()).isZero();
    assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void an_executor_that_was_killed_says_that_it_is_in_doubt() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.driver.does(
        "mail",
        invocation -> {
          executor.stop();
          return Behaviours.echo(invocation);
        });
    assertThat(code(asked)).isEqualTo("EXE-931");
    executor.start();
    Served doubtful = serve(asked);
    assertThat(doubtful.receipt().status()).isEqualTo(Status.IN_DOUBT);
    assertThat(executor.driver.runs()).hasSize(1);
    assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "alice"))))
        .isEqualTo("EXE-903");
    home.kernel().resolve(home.resolution(doubtful, Resolution.Found.HAPPENED));
    executor.driver.does("mail", Behaviours::echo);
    serve(home.ask("alice").tool("mail"));
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    assertThat(executor.ledger().head(new RunId("acme", "run-1")).orElseThrow().kind())
        .isEqualTo("run.closed");
  }

  @Test
  void the_next_effect_of_a_run_waits_for_the_receipt_before_it() {
    executor.losesAnswers(true);
    TestRequest first = home.ask("alice").tool("mail");
    assertThat(code(first)).isEqualTo("EXE-931");
    executor.losesAnswers(false);
    Served second = serve(home.ask("alice").tool("mail"));
    assertThat(second.receipt().lamport()).isEqualTo(2);
    assertThat(second.receipt().prev()).isEqualTo(serve(first).id());
  }

  @Test
  void effects_of_one_run_that_come_at_once_are_done_one_after_the_other() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    executor.driver.does("mail", Behaviours.blocks(begun, goOn));
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      Future<Served> one = threads.submit(() -> serve(home.ask("alice").tool("mail")));
      begun.await();
      TestRequest here = home.ask("alice").tool("sim");
      TestRequest elsewhere = home.ask("alice").run("run-2").tool("sim");
      Future<Served> two = threads.submit(() -> serve(here));
      assertThat(serve(elsewhere).receipt().lamport()).isEqualTo(1); // another run does not wait
      assertThat(two.isDone()).isFalse();
      goOn.countDown();
      assertThat(one.get().receipt().lamport()).isEqualTo(1);
      assertThat(two.get().receipt().prev()).isEqualTo(one.get().id());
    }
  }

  @Test
  void approvals_changes_of_policy_and_prohibitions_reach_the_executor() {
    TestRequest pay = home.ask("alice").tool("pay");
    assertThat(home.submit(pay).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    home.approve(pay.sign(), "rita");
    assertThat(serve(pay).receipt().status()).isEqualTo(Status.SUCCEEDED);
    home.activate(TestPolicy.SHARED);
    serve(home.ask("alice"));
    assertThat(executor.direct().kernel().system().policyInForce().digest())
        .isEqualTo(home.policy().digest());
    home.prohibit("mail", "1.0.0");
    assertThat(code(home.ask("alice").tool("mail"))).isEqualTo("EXE-303");
  }

  @Test
  void an_operator_of_the_executor_prohibits_and_the_guardians_word_does_not_help() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.driver.refusesToPrepare(new IllegalStateException("not here"));
    assertThat(code(asked)).isEqualTo("EXE-308");
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.refused");
    executor.driver.refusesToPrepare(null);
    assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED); // judged again
  }

  @Test
  void contents_that_an_effect_names_go_to_the_executor_once() {
    byte[] bytes = "a,b\n1,2\n".getBytes(StandardCharsets.UTF_8);
    Content content =
        home.kernel().contents().put("acme", "alice", new ByteArrayInputStream(bytes), "text/csv");
    executor.driver.does(
        "mail",
        invocation ->
            new String(
                        read(invocation.content().open(invocation.inputs().getFirst())),
                        StandardCharsets.UTF_8)
                    .equals("a,b\n1,2\n")
                ? Behaviours.echo(invocation)
                : Behaviours.fails().run(invocation));
    for (int i = 0; i < 2; i++) {
      TestRequest asked =
          home.ask("alice").tool("mail").input("table", content.digest(), content.size());
      assertThat(serve(asked).receipt().status()).isEqualTo(Status.SUCCEEDED);
    }
    assertThat(executor.ledger().hasBlob(content.digest())).isTrue();
  }

  private static byte[] read(InputStream in) {
    try (in) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void an_order_of_an_agent_whose_key_was_revoked_meanwhile_ends_and_does_not_begin() {
    TestRequest asked = home.ask("alice").tool("mail");
    executor.losesOrders(true);
    assertThat(code(asked)).isEqualTo("EXE-931");
    home.revoke("alice");
    executor.losesOrders(false);
    assertThat(home.kernel().settleAwaited()).isZero();
    Receipt last =
        Receipt.read(home.document(home.runState("acme", "run-1").lastReceipt()).document());
    assertThat(last.code()).contains("EXE-936");
    assertThat(executor.driver.runs()).isEmpty();
  }

  @Test
  void the_workspace_of_a_run_lies_where_the_tools_run(@TempDir Path other) {
    try (TestHome desk = TestHome.withWorkspaces(other.resolve("guardian"))) {
      try (TestExecutor there = TestExecutor.of(desk, other.resolve("executor"))) {
        there.driver.does(
            "desk",
            invocation -> {
              there.workspaces.append(invocation, "a");
              return Behaviours.echo(invocation);
            });
        Receipt first =
            desk.submit(desk.ask("alice").tool("desk")).served().orElseThrow().receipt();
        assertThat(first.workspaceBefore()).contains(RunWorkspaces.EMPTY);
        assertThat(first.workspaceAfter()).contains(TestWorkspaces.digest("a"));
        TestRequest stale = desk.ask("alice").tool("desk").pins(RunWorkspaces.EMPTY);
        assertThat(Refused.code(() -> desk.submit(stale))).isEqualTo("EXE-310");
        there.losesOrders(true);
        TestRequest lost = desk.ask("alice").tool("desk");
        assertThat(Refused.code(() -> desk.submit(lost))).isEqualTo("EXE-931");
        there.losesOrders(false);
        Receipt never = desk.submit(lost).served().orElseThrow().receipt();
        assertThat(never.workspaceAfter()).isEqualTo(never.workspaceBefore());
        assertThat(Audited.report(desk).problems()).isEmpty();
        desk.kernel().closeRun(desk.close("acme", "run-1", "alice"));
        assertThat(there.workspaces.treeDigest("acme", "run-1")).isEqualTo(RunWorkspaces.EMPTY);
        assertThat(Audited.report(desk).problems()).isEmpty();
      }
    }
  }

  /** The order of an effect that was served, as it was sent. */
  private ApartOrder served(TestRequest asked) {
    serve(asked);
    return executor.orders.getLast();
  }

  private static ApartOrder with(
      ApartOrder order, Envelope request, Envelope decision, Envelope intent) {
    return new ApartOrder(order.system(), request, decision, intent, order.at(), order.dispatch());
  }

  @Test
  void a_replayed_order_gets_the_receipt_that_there_is() {
    ApartOrder order = served(home.ask("alice").tool("mail"));
    OrderEnded again = executor.direct().end(order);
    assertThat(again.receipt().id()).isEqualTo(home.runState("acme", "run-1").lastReceipt());
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void no_other_key_signs_decisions_or_intents() {
    ApartOrder order = executor.lost(home.ask("alice").tool("mail"));
    for (String forger : List.of("executor", "alice", "stranger")) {
      assertThat(
              Refused.code(() ->
                  executor
                      .direct()
                      .end(
                          with(
                              order,
                              order.request(),
                              Forgery.signedBy(order.decision(), forger),
                              order.intent()))))
          .isEqualTo("EXE-101");
      assertThat(
              Refused.code(() ->
                  executor
                      .direct()
                      .end(
                          with(
                              order,
                              order.request(),
                              order.decision(),
                              Forgery.signedBy(order.intent(), forger)))))
          .isEqualTo("EXE-103");
    }
    assertThat(executor.driver.runs()).isEmpty();
  }

  @Test
  void a_guardian_cannot_act_without_the_agents_own_signature() {
    ApartOrder order = executor.lost(home.ask("alice").tool("mail"));
    for (String forger : List.of("guardian", "bob", "stranger")) {
      String refused =
          Refused.code(() ->
              executor
                  .direct()
                  .end(
                      with(
                          order,
                          Forgery.signedBy(order.request(), forger),
                          order.decision(),
                          order.intent())));
      assertThat(refused).as(forger).isIn("CAN-052", "CAN-053", "GRD-012", "GRD-003", "EXE-106");
    }
    assertThat(executor.driver.runs()).isEmpty();
  }

  @Test
  void an_intent_for_another_log_or_of_another_time_is_not_served() {
    ApartOrder order = executor.lost(home.ask("alice").tool("mail"));
    JsonValue.Obj other =
        JsonValue.object().put("origin", "writ.example/other").put("incarnation", 1).build();
    assertThat(
            Refused.code(() ->
                executor
                    .direct()
                    .end(
                        with(
                            order,
                            order.request(),
                            order.decision(),
                            Forgery.signedBy(
                                order.intent(),
                                Forgery.with(order.intent(), "audience", other),
                                "guardian")))))
        .isEqualTo("EXE-105");
    home.clock.forward(Duration.ofMinutes(6));
    OrderEnded late = executor.direct().end(order);
    assertThat(Receipt.read(late.receipt().document()).code()).contains("EXE-112");
    assertThat(executor.driver.runs()).isEmpty();
  }

  @Test
  void a_guardian_that_issues_two_intents_for_one_request_has_it_done_once() {
    ApartOrder order = served(home.ask("alice").tool("mail"));
    Intent first = Intent.read(order.intent().document());
    Envelope second =
        Forgery.signedBy(
            order.intent(),
            Forgery.with(
                order.intent(),
                "issued_at",
                JsonValue.of(first.issuedAt().plusMillis(1).toString())),
            "guardian");
    assertThat(second.id()).isNotEqualTo(order.intent().id());
    assertThat(
            Refused.code(() ->
                executor.direct().end(with(order, order.request(), order.decision(), second))))
        .isEqualTo("EXE-111");
    assertThat(executor.driver.runs()).hasSize(1);
  }

  @Test
  void a_guardian_that_forgot_receipts_cannot_go_on_beside_them() {
    serve(home.ask("alice").tool("mail"));
    home.backup();
    serve(home.ask("alice").tool("mail").params("{\"to\":\"b\"}"));
    home.stop();
    // Put back with the anchor of that time: nothing on that machine knows better.
    assertThat(executor.driver.runs()).hasSize(2);
    home.forget();
    assertThat(code(home.ask("alice").tool("mail").params("{\"to\":\"c\"}"))).isEqualTo("EXE-932");
    assertThat(executor.driver.runs()).hasSize(2);
    assertThat(serve(home.ask("alice").run("run-2").tool("mail")).receipt().status())
        .isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void what_the_guardian_said_was_refused_is_never_begun() {
    TestRequest asked = home.ask("alice").tool("mail");
    Answer decided = home.decide(asked.sign());
    executor.driver.refusesToPrepare(new IllegalStateException("not now"));
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-308");
    executor.driver.refusesToPrepare(null);
    ApartOrder prepared = executor.orders.getLast();
    assertThat(Refused.code(() -> executor.direct().prepare(prepared))).isEqualTo("EXE-111");
  }

  @Test
  void the_executor_signs_no_receipt_and_no_decision_for_the_guardian() {
    Served served = serve(home.ask("alice").tool("mail"));
    for (Envelope document :
        List.of(
            served.envelope(),
            home.ledger().document(served.receipt().decision()).orElseThrow(),
            home.ledger().document(served.receipt().intent()).orElseThrow())) {
      assertThat(Refused.code(() -> executor.direct().sign(document.preAuthEncoding())))
          .isEqualTo("EXE-937");
    }
    assertThat(
            Refused.code(() -> executor.direct().sign("anything".getBytes(StandardCharsets.UTF_8))))
        .isEqualTo("EXE-937");
  }

  @Test
  void a_driver_in_doubt_and_a_killed_tool_end_as_they_do_together() {
    executor.driver.does("mail", _ -> DriverOutcome.inDoubt("no answer"));
    assertThat(serve(home.ask("alice").tool("mail")).receipt().status()).isEqualTo(Status.IN_DOUBT);
    executor.driver.does("sim", Behaviours.ends(DriverOutcome.End.KILLED, "killed"));
    assertThat(serve(home.ask("alice").tool("sim")).receipt().status()).isEqualTo(Status.KILLED);
  }

  @Test
  void an_executors_copy_of_the_system_run_takes_nothing_that_nobody_signed() {
    var system = ApartExecutor.systemRun(home.ledger());
    var last = system.events().getLast();
    Digest before = executor.direct().system().head();
    assertThat(
            Refused.code(() ->
                executor
                    .direct()
                    .carrySystem(
                        new CarriedEvents(
                            system.next(),
                            system.next() + 1,
                            List.of(
                                last.next(
                                    "policy.activated", last.body(), last.at(), Optional.empty())),
                            system.documents()))))
        .isNotEqualTo("-");
    assertThat(executor.direct().system().head()).isEqualTo(before);
  }
}
