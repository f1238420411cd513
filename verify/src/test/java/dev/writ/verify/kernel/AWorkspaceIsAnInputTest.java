package dev.writ.verify.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Answer;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Await;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.fixture.TestWorkspaces;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.error.LedgerError;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * protocol rule 20: a workspace is an input. Its digests are in every receipt, a pin holds or
 * nothing runs, one effect is in it at a time, and nobody goes in while it is not known what
 * happened there.
 */
class AWorkspaceIsAnInputTest {
  private static final Digest NEW = RunWorkspaces.EMPTY;

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.withWorkspaces(dir);
    home.driver.does("desk", writes("a"));
  }

  @AfterEach
  void the_ledger_is_sound() {
    home.beforeWrite(() -> {});
    home.workspaces.fails(null);
    home.restartWith(e -> e);
    AuditReport report =
        Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {});
    assertThat(report.problems()).isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  /** A tool that leaves something in its run's workspace. */
  private TestDriver.Behaviour writes(String text) {
    return writesAnd(text, Behaviours::echo);
  }

  private TestDriver.Behaviour writesAnd(String text, TestDriver.Behaviour then) {
    return invocation -> {
      home.workspaces.append(invocation, text);
      return then.run(invocation);
    };
  }

  private TestRequest ask(String tool) {
    return home.ask("alice").tool(tool);
  }

  private Receipt serve(TestRequest request) {
    return home.submit(request).served().orElseThrow().receipt();
  }

  private String refused(TestRequest request) {
    return Refused.code(() -> home.submit(request));
  }

  private static Digest tree(String text) {
    return TestWorkspaces.digest(text);
  }

  private static void left(Receipt receipt, String before, String after) {
    assertThat(receipt.workspaceBefore()).contains(tree(before));
    assertThat(receipt.workspaceAfter()).contains(tree(after));
  }

  // Receipts.

  @Test
  void every_receipt_has_the_tree_before_and_after() {
    left(serve(ask("desk")), "", "a");
    left(serve(ask("desk")), "a", "aa");
    home.restart();
    left(serve(ask("desk")), "aa", "aaa");
    left(serve(ask("desk").run("run-2")), "", "a");
    left(serve(home.ask("eve").tool("desk")), "", "a");
  }

  @Test
  void a_tool_without_a_workspace_measures_none() {
    Receipt receipt = serve(ask("mail"));
    assertThat(receipt.workspaceBefore()).isEmpty();
    assertThat(receipt.workspaceAfter()).isEmpty();
    assertThat(home.workspaces.measures()).isZero();
    assertThat(home.rows("workspace")).isEmpty();
    assertThat(home.rows("unsettled")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"FAILED,failed", "TIMED_OUT,timed_out", "KILLED,killed", "SUCCEEDED,failed"})
  void whatever_the_outcome(DriverOutcome.End end, String status) {
    home.driver.does("desk", writesAnd("x", Behaviours.ends(end, "why")));
    Receipt receipt = serve(ask("desk")); // a success like this drifts from its contract
    assertThat(receipt.status().text()).isEqualTo(status);
    left(receipt, "", "x");
    assertThat(home.rows("unsettled")).isEmpty();
  }

  @Test
  void whatever_breaks_behind_it() {
    home.driver.does("desk", writesAnd("x", Behaviours.throwing(new IllegalStateException())));
    Receipt broken = serve(ask("desk"));
    assertThat(broken.code()).contains("EXE-401");
    left(broken, "", "x");
    home.driver.does("desk", writesAnd("y", Behaviours.gives("{", Behaviours.JSON)));
    Receipt formless = serve(ask("desk"));
    assertThat(formless.code()).contains("EXE-601");
    left(formless, "x", "xy");
    home.restartWith(
        with((_, _, _) -> {
          throw new WritException(LedgerError.DISK_FULL, "blobs");
        }));
    Receipt unstored = serve(ask("desk"));
    assertThat(unstored.code()).contains("EXE-702");
    left(unstored, "xy", "xyy");
    assertThat(home.rows("unsettled")).isEmpty();
  }

  private static UnaryOperator<SafeExecutor> with(StoreStage.ContentStore contents) {
    return e -> KernelSeam.with(e, new StoreStage(contents));
  }

  private static SafeExecutor signingFails(SafeExecutor e) {
    return KernelSeam.with(
        e,
        e.receipt()
            .withSigner((_, _) -> {
              throw new IllegalStateException("no key");
            }));
  }

  @Test
  void the_driver_is_told_what_was_measured() {
    serve(ask("desk"));
    serve(ask("desk"));
    assertThat(home.driver.runs().getFirst().invocation().workspaceBefore()).contains(NEW);
    assertThat(home.driver.runs().getLast().invocation().workspaceBefore()).contains(tree("a"));
    serve(ask("mail"));
    assertThat(home.driver.runs().getLast().invocation().workspaceBefore()).isEmpty();
  }

  @Test
  void what_uses_a_workspace_is_durably_dispatched_whatever_it_promises() {
    home.driver.does("slate", writes("s"));
    List<String> during = new ArrayList<>();
    home.driver.does(
        "slate",
        invocation -> {
          during.addAll(home.rows("dispatched"));
          return Behaviours.echo(invocation);
        });
    serve(ask("slate").pins(NEW));
    assertThat(during).hasSize(1);
  }

  // Pins.

  @Test
  void a_pin_that_holds_is_served_and_another_dispatches_nothing() {
    left(serve(ask("desk").pins(NEW)), "", "a");
    TestRequest stale = ask("desk").pins(NEW);
    assertThat(refused(stale)).isEqualTo("EXE-310");
    assertThat(home.driver.runs()).hasSize(1);
    assertThat(home.kinds("acme", "run-1")).endsWith("effect.refused");
    Refusal refusal =
        Refusal.read(home.document(home.last("acme", "run-1").orElseThrow().body()).document());
    assertThat(refusal.stage()).isEqualTo("prepare");
    assertThat(refusal.found()).isEqualTo("pinned " + NEW + ", is " + tree("a"));
    left(serve(ask("desk").pins(tree("a"))), "a", "aa");
    // The stale one is judged anew, and holds no more than before.
    assertThat(refused(stale)).isEqualTo("EXE-310");
    assertThat(home.rows("unsettled")).isEmpty();
    assertThat(home.driver.runs()).hasSize(2);
  }

  @Test
  void a_pin_that_comes_true_again_is_served() {
    serve(ask("desk"));
    TestRequest early = ask("desk").pins(tree("aa"));
    assertThat(refused(early)).isEqualTo("EXE-310");
    serve(ask("desk"));
    left(serve(early), "aa", "aaa");
  }

  @ParameterizedTest
  @ValueSource(strings = {"lathe", "slate"})
  void what_can_be_done_again_must_pin(String tool) {
    Answer unpinned = home.submit(ask(tool));
    assertThat(unpinned.decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(unpinned.decision().code()).contains("GRD-411");
    Answer unused = home.submit(ask("mail").pins(NEW));
    assertThat(unused.decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(home.driver.runs()).isEmpty();
  }

  /** The approver is asked before the envelope is looked at, and approves nothing. */
  @Test
  void what_is_approved_must_pin() {
    Envelope unpinned = ask("vault").sign();
    assertThat(home.submit(unpinned).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    Answer approved = home.approve(unpinned, "rita");
    assertThat(approved.decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(approved.decision().code()).contains("GRD-411");
    assertThat(home.driver.runs()).isEmpty();
  }

  @Test
  void an_approval_is_for_the_tree_that_its_effect_pins() {
    Envelope request = ask("vault").pins(NEW).sign();
    assertThat(home.submit(request).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    serve(ask("desk")); // somebody works in the workspace while it waits
    assertThat(home.approve(request, "rita").decision().verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-310");
    assertThat(home.driver.runs()).hasSize(1);
    Envelope other = ask("vault").pins(tree("a")).sign();
    home.submit(other);
    home.approve(other, "rita");
    left(home.submit(other).served().orElseThrow().receipt(), "a", "a");
  }

  // One at a time.

  @Test
  void two_effects_of_a_run_never_overlap_and_of_two_runs_do() throws Exception {
    CountDownLatch bothRuns = new CountDownLatch(2);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    home.driver.does(
        "desk",
        invocation -> {
          boolean first = home.workspaces.read("acme", invocation.scope().run()).isEmpty();
          if (invocation.scope().run().equals("run-1")) {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
          }
          home.workspaces.append(invocation, "(");
          if (first) {
            bothRuns.countDown(); // the first of each run waits until the other is inside too
            await(bothRuns);
          }
          Thread.yield();
          home.workspaces.append(invocation, ")");
          if (invocation.scope().run().equals("run-1")) {
            inside.decrementAndGet();
          }
          return Behaviours.echo(invocation);
        });
    List<TestRequest> requests = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      requests.add(ask("desk").run(i % 2 == 0 ? "run-1" : "run-2").params("{\"n\":" + i + "}"));
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Receipt>> served =
          requests.stream().map(r -> threads.submit(() -> serve(r))).toList();
      for (Future<Receipt> receipt : served) {
        assertThat(receipt.get().workspaceAfter()).isPresent();
      }
    }
    assertThat(most).hasValue(1);
    assertThat(home.workspaces.read("acme", "run-1")).isEqualTo("()".repeat(12));
    assertThat(home.workspaces.read("acme", "run-2")).isEqualTo("()".repeat(12));
    for (String run : List.of("run-1", "run-2")) {
      List<Receipt> receipts =
          home.events("acme", run).stream()
              .filter(e -> e.kind().equals("receipt.signed"))
              .map(e -> Receipt.read(home.document(e.body()).document()))
              .toList();
      for (int i = 0; i < receipts.size(); i++) {
        left(receipts.get(i), "()".repeat(i), "()".repeat(i + 1)); // each begins where one ended
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Does this the first time, and nothing special afterwards. */
  private static TestDriver.Behaviour first(TestDriver.Behaviour behaviour) {
    AtomicInteger times = new AtomicInteger();
    return invocation ->
        (times.getAndIncrement() == 0 ? behaviour : (TestDriver.Behaviour) Behaviours::echo)
            .run(invocation);
  }

  /** One effect in the workspace of run-1, for as long as the others' part takes. */
  private void while_one_is_inside(Runnable others) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("desk", writesAnd("a", first(Behaviours.blocks(begun, goOn))));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Receipt> inside = threads.submit(() -> serve(ask("desk")));
      begun.await();
      try {
        others.run();
      } finally {
        goOn.countDown();
      }
      left(inside.get(), "", "a");
    }
  }

  @Test
  void others_of_the_run_and_repeats_do_not_wait() throws Exception {
    TestRequest before = ask("vault").pins(NEW);
    home.submit(before);
    TestRequest served = ask("desk").run("run-2");
    serve(served);
    while_one_is_inside(() -> {
      assertThat(serve(ask("mail")).status()).isEqualTo(Status.SUCCEEDED);
      assertThat(serve(ask("calc")).status()).isEqualTo(Status.SUCCEEDED);
      left(serve(ask("desk").run("run-3")), "", "a");
      assertThat(home.submit(served).served().orElseThrow().repeated()).isTrue();
      assertThat(home.decide(ask("desk").sign()).decision().verdict()).isEqualTo(Verdict.ALLOW);
      home.approve(before.sign(), "rita");
    });
  }

  @Test
  void a_repeated_order_does_not_wait_for_another_effect() throws Exception {
    Answer decided = home.decide(ask("desk").params("{\"n\":2}").sign());
    left(home.execute(decided, "alice").receipt(), "", "a");
    home.workspaces.wipe("acme", "run-1", "for-a-test", TestHome.START);
    while_one_is_inside(() -> assertThat(home.execute(decided, "alice").repeated()).isTrue());
  }

  @Test
  void who_waited_is_held_to_what_is_in_force_by_then() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("desk", writesAnd("a", first(Behaviours.blocks(begun, goOn))));
    Answer decided = home.decide(ask("desk").params("{\"two\":\"steps\"}").sign());
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<Receipt> inside = threads.submit(() -> serve(ask("desk")));
      begun.await();
      List<Thread> waiting = new ArrayList<>();
      Future<String> submitted = threads.submit(() -> waiter(waiting, () -> serve(ask("desk"))));
      Future<String> ordered =
          threads.submit(() -> waiter(waiting, () -> home.execute(decided, "alice")));
      Future<String> pinned =
          threads.submit(() -> waiter(waiting, () -> serve(ask("desk").run("run-1").pins(NEW))));
      until_all_wait(waiting, 3);
      home.prohibit("desk", "1.0.0");
      goOn.countDown();
      left(inside.get(), "", "a");
      assertThat(submitted.get()).isEqualTo("EXE-303");
      assertThat(ordered.get()).isEqualTo("EXE-303");
      assertThat(pinned.get()).isEqualTo("EXE-303");
    }
    assertThat(home.driver.runs()).hasSize(1);
  }

  private static String waiter(List<Thread> waiting, Runnable attempt) {
    synchronized (waiting) {
      waiting.add(Thread.currentThread());
    }
    return Refused.code(attempt::run);
  }

  /** Not a pause: it ends when they wait for a lock, however long they take to get there. */
  private static void until_all_wait(List<Thread> waiting, int count) {
    Await.until(() -> {
      synchronized (waiting) {
        return waiting.size() == count
            && waiting.stream().allMatch(t -> t.getState() == Thread.State.WAITING);
      }
    });
  }

  @Test
  void the_intent_of_who_waits_begins_when_the_wait_ends() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("desk", writesAnd("a", first(Behaviours.blocks(begun, goOn))));
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<Receipt> inside = threads.submit(() -> serve(ask("desk")));
      begun.await();
      List<Thread> waiting = new ArrayList<>();
      Future<Receipt> waited =
          threads.submit(() -> {
            synchronized (waiting) {
              waiting.add(Thread.currentThread());
            }
            return serve(ask("desk"));
          });
      until_all_wait(waiting, 1);
      home.clock.forward(Duration.ofMinutes(30));
      goOn.countDown();
      inside.get();
      left(waited.get(), "a", "aa");
    }
  }

  /** A tool that needs the workspace came into its place while the request was on its way. */
  @Test
  void a_tool_that_was_registered_meanwhile_does_not_go_in_without_the_lock() {
    home.tools.remove("desk", "1.0.0");
    int[] asked = {0};
    home.tools.beforeLookup(() -> {
      if (++asked[0] == 2) {
        home.tools.register(TestTools.inWorkspace("desk", Determinism.RECORDED));
      }
    });
    TestRequest request = ask("desk");
    assertThat(refused(request)).isEqualTo("EXE-308");
    home.tools.beforeLookup(() -> {});
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.workspaces.measures()).isZero();
    left(serve(request), "", "a");
  }

  // Measures that fail.

  @Test
  void a_tree_that_cannot_be_measured_before_dispatches_nothing() {
    home.workspaces.fails(new WritException(LedgerError.DISK_FULL, "for a test"));
    assertThat(refused(ask("desk"))).isEqualTo("LED-005");
    home.workspaces.fails(new IllegalStateException("a bug"));
    assertThat(refused(ask("desk"))).isEqualTo("EXE-308");
    home.workspaces.fails(new StackOverflowError());
    assertThat(refused(ask("desk"))).isEqualTo("EXE-308");
    assertThat(home.driver.runs()).isEmpty();
    home.workspaces.fails(null);
    left(serve(ask("desk")), "", "a");
  }

  @Test
  void an_installation_without_workspaces_refuses_what_needs_one() {
    home.restartWithWorkspaces(false);
    assertThat(refused(ask("desk"))).isEqualTo("EXE-309");
    assertThat(serve(ask("mail")).status()).isEqualTo(Status.SUCCEEDED);
    home.kernel().closeRun(home.close("acme", "run-1", "alice")); // used none: nothing to wipe
    home.restartWithWorkspaces(true);
    left(serve(ask("desk").run("run-2")), "", "a");
  }

  private void cannot_be_measured_after(Throwable failure, String found) {
    home.driver.does(
        "desk",
        writesAnd(
            "x",
            invocation -> {
              home.workspaces.fails(failure);
              return Behaviours.echo(invocation);
            }));
    TestRequest request = ask("desk");
    Served served = home.submit(request).served().orElseThrow();
    home.workspaces.fails(null);
    Receipt receipt = served.receipt();
    assertThat(receipt.status()).isEqualTo(Status.FAILED);
    assertThat(receipt.code()).contains("EXE-402");
    assertThat(receipt.message()).isEqualTo(found);
    assertThat(receipt.workspaceBefore()).isPresent();
    assertThat(receipt.workspaceAfter()).isEmpty();
    assertThat(receipt.rawOutput()).isPresent(); // what the tool gave is not lost
    assertThat(served.output()).isEmpty();
    assertThat(home.submit(request).served().orElseThrow().envelope().toBytes())
        .isEqualTo(served.envelope().toBytes());
  }

  @Test
  void a_tree_that_cannot_be_measured_after_is_in_the_receipt_and_the_run_uses_it_no_more() {
    cannot_be_measured_after(
        new WritException(LedgerError.DISK_FULL, "for a test"), "LED-005 for a test");
    assertThat(refused(ask("desk"))).isEqualTo("EXE-311");
    home.restart();
    assertThat(refused(ask("desk"))).isEqualTo("EXE-311");
    assertThat(refused(ask("desk").pins(tree("x")))).isEqualTo("EXE-311");
    assertThat(serve(ask("mail")).status()).isEqualTo(Status.SUCCEEDED);
    home.driver.does("desk", writes("x"));
    left(serve(ask("desk").run("run-2")), "", "x");
    assertThat(home.driver.runs()).hasSize(3);
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    assertThat(home.workspaces.read("acme", "run-1")).isEmpty();
  }

  @Test
  void whatever_the_measure_throws() {
    cannot_be_measured_after(new IllegalStateException("secret"), "IllegalStateException");
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    home.driver.does(
        "desk",
        invocation -> {
          home.workspaces.fails(new OutOfMemoryError("for a test"));
          throw new IllegalStateException("and the driver breaks too");
        });
    Receipt both = serve(ask("desk").run("run-2"));
    home.workspaces.fails(null);
    assertThat(both.code()).contains("EXE-402");
    assertThat(both.message()).isEqualTo("OutOfMemoryError");
    assertThat(refused(ask("desk").run("run-2"))).isEqualTo("EXE-311");
  }

  // Doubt.

  /** The disk fails when the receipt is to be written: nobody saw how it went. */
  private Served in_doubt(TestRequest request) {
    AtomicInteger writes = new AtomicInteger();
    home.beforeWrite(() -> {
      if (writes.incrementAndGet() == 2) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    assertThat(refused(request)).isEqualTo("LED-005");
    home.beforeWrite(() -> {});
    home.restart();
    Served served = home.submit(request).served().orElseThrow();
    assertThat(served.receipt().status()).isEqualTo(Status.IN_DOUBT);
    return served;
  }

  @Test
  void a_doubt_quarantines_the_workspace_until_somebody_says_what_happened() {
    left(serve(ask("desk")), "", "a");
    Served doubt = in_doubt(ask("desk").params("{\"n\":2}"));
    assertThat(doubt.receipt().workspaceBefore()).contains(tree("a")); // as it was measured
    assertThat(doubt.receipt().workspaceAfter()).isEmpty();
    int ran = home.driver.runs().size();
    assertThat(refused(ask("desk"))).isEqualTo("EXE-311");
    assertThat(refused(ask("lathe").pins(tree("aa")))).isEqualTo("EXE-311");
    home.restart();
    assertThat(refused(ask("desk"))).isEqualTo("EXE-311");
    assertThat(home.driver.runs()).hasSize(ran);
    // Nobody else is in quarantine.
    assertThat(serve(ask("mail")).status()).isEqualTo(Status.SUCCEEDED);
    left(serve(ask("desk").run("run-2")), "", "a");
    left(serve(home.ask("eve").tool("desk")), "", "a");
    home.kernel().resolve(home.resolution(doubt, Resolution.Found.HAPPENED));
    left(serve(ask("desk")), "aa", "aaa");
  }

  @ParameterizedTest
  @ValueSource(strings = {"HAPPENED", "DID_NOT_HAPPEN", "CANNOT_BE_KNOWN"})
  void any_word_of_the_operator_ends_it(Resolution.Found found) {
    Served doubt = in_doubt(ask("desk"));
    TestRequest refused = ask("desk");
    assertThat(refused(refused)).isEqualTo("EXE-311");
    home.kernel().resolve(home.resolution(doubt, found));
    left(serve(refused), "a", "aa"); // it is judged anew, and the intent is another one
  }

  @Test
  void the_doubt_of_an_effect_without_workspace_quarantines_none() {
    Served doubt = in_doubt(ask("mail"));
    assertThat(doubt.receipt().workspaceBefore()).isEmpty();
    left(serve(ask("desk")), "", "a");
    assertThat(home.runState("acme", "run-1").unfinished().inDoubt()).isEqualTo(1);
  }

  @Test
  void a_receipt_that_cannot_be_signed_leaves_it_in_quarantine_at_once() {
    home.restartWith(AWorkspaceIsAnInputTest::signingFails);
    TestRequest request = ask("desk");
    assertThat(refused(request)).isEqualTo("EXE-801");
    assertThat(refused(ask("lathe").pins(tree("a")))).isEqualTo("EXE-311");
    assertThat(home.driver.runs()).hasSize(1);
    assertThat(home.rows("unsettled")).hasSize(1);
    home.restartWith(e -> e);
    assertThat(refused(ask("desk"))).isEqualTo("EXE-311");
    Served doubt = home.submit(request).served().orElseThrow();
    assertThat(doubt.receipt().workspaceBefore()).contains(NEW);
    home.kernel().resolve(home.resolution(doubt, Resolution.Found.HAPPENED));
    left(serve(ask("desk")), "a", "aa");
  }

  /** Before the dispatch is on disk nothing runs and nothing is in quarantine; after it, it is. */
  @Test
  void a_disk_that_fails_at_each_write() {
    for (int failing = 1; failing <= 2; failing++) {
      int at = failing;
      AtomicInteger writes = new AtomicInteger();
      home.beforeWrite(() -> {
        if (writes.incrementAndGet() == at) {
          throw new WritException(LedgerError.DISK_FULL, "for a test");
        }
      });
      String run = "run-" + failing;
      TestRequest request = ask("desk").run(run);
      assertThat(refused(request)).isEqualTo("LED-005");
      home.beforeWrite(() -> {});
      home.restart();
      boolean dispatched = failing == 2;
      assertThat(home.workspaces.read("acme", run)).isEqualTo(dispatched ? "a" : "");
      Receipt receipt = serve(request);
      assertThat(receipt.status()).isEqualTo(dispatched ? Status.IN_DOUBT : Status.SUCCEEDED);
      assertThat(receipt.workspaceBefore()).contains(NEW);
      assertThat(home.driver.runsWith(request.params())).isEqualTo(failing);
      if (dispatched) {
        assertThat(refused(ask("desk").run(run))).isEqualTo("EXE-311");
      } else {
        left(serve(ask("desk").run(run).params("{\"n\":2}")), "a", "aa");
      }
    }
  }

  // The end of a run.

  @Test
  void the_workspace_of_a_closed_run_is_wiped_with_the_reason() {
    serve(ask("desk"));
    serve(ask("desk").run("run-2"));
    serve(ask("mail").run("run-3"));
    home.clock.forward(Duration.ofSeconds(5));
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    home.kernel().closeRun(home.close("acme", "run-3", "alice"));
    assertThat(home.workspaces.wiped())
        .containsExactly(
            new TestWorkspaces.Wiped(
                "acme", "run-1", "run-closed", TestHome.START.plusSeconds(5), true));
    assertThat(home.workspaces.read("acme", "run-2")).isEqualTo("a");
    assertThat(home.rows("workspace")).containsExactly("acme\u001frun-2");
    assertThat(home.kernel().notWiped()).isEmpty();
    home.restart();
    assertThat(home.workspaces.wiped()).hasSize(1);
    assertThat(refused(ask("desk"))).isEqualTo("EXE-901");
  }

  @Test
  void a_run_that_is_not_closed_is_not_wiped() {
    Served doubt = in_doubt(ask("desk"));
    assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "alice"))))
        .isEqualTo("EXE-903");
    assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "bob"))))
        .isEqualTo("EXE-902");
    home.restart();
    assertThat(home.workspaces.wiped()).isEmpty();
    home.kernel().resolve(home.resolution(doubt, Resolution.Found.CANNOT_BE_KNOWN));
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    assertThat(home.workspaces.wiped()).hasSize(1);
  }

  /** 1: the closing; 2 and 3: its checkpoint; 4: that it is wiped. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void a_process_that_ends_between_closing_and_wipe(int failing) {
    serve(ask("desk"));
    AtomicInteger writes = new AtomicInteger();
    home.beforeWrite(() -> {
      if (writes.incrementAndGet() == failing) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    Envelope close = home.close("acme", "run-1", "alice");
    assertThat(Refused.code(() -> home.kernel().closeRun(close))).isEqualTo("LED-005");
    assertThat(home.workspaces.wiped()).hasSize(failing == 4 ? 1 : 0);
    home.beforeWrite(() -> {});
    home.restart();
    if (failing == 1) {
      assertThat(home.workspaces.wiped()).isEmpty();
      left(serve(ask("desk")), "a", "aa");
      return;
    }
    assertThat(home.workspaces.wiped()).hasSize(failing == 4 ? 2 : 1);
    assertThat(home.workspaces.read("acme", "run-1")).isEmpty();
    assertThat(home.rows("workspace")).isEmpty();
    home.restart();
    assertThat(home.workspaces.wiped()).hasSize(failing == 4 ? 2 : 1);
  }

  @Test
  void a_wipe_that_fails_is_told_and_tried_again_at_every_start() {
    serve(ask("desk"));
    home.workspaces.fails(new WritException(LedgerError.DISK_FULL, "for a test"));
    Envelope close = home.close("acme", "run-1", "alice");
    assertThat(Refused.code(() -> home.kernel().closeRun(close))).isEqualTo("EXE-913");
    assertThat(home.kinds("acme", "run-1")).endsWith("run.closed");
    assertThat(home.kernel().notWiped()).hasSize(1);
    home.workspaces.fails(new IllegalStateException("a bug"));
    home.restart(); // it opens nevertheless
    assertThat(serve(ask("mail").run("run-2")).status()).isEqualTo(Status.SUCCEEDED);
    assertThat(home.kernel().notWiped()).hasSize(1);
    home.restartWithWorkspaces(false);
    assertThat(home.kernel().notWiped()).hasSize(1);
    home.workspaces.fails(null);
    home.restartWithWorkspaces(true);
    assertThat(home.kernel().notWiped()).isEmpty();
    assertThat(home.workspaces.wiped()).hasSize(1);
  }

  @Test
  void every_start_asks_for_those_whose_time_is_over() {
    int before = home.workspaces.expired().size();
    home.clock.forward(Duration.ofHours(1));
    home.restart();
    assertThat(home.workspaces.expired()).hasSize(before + 1);
    assertThat(home.workspaces.expired().getLast())
        .isEqualTo(TestHome.START.plus(Duration.ofHours(1)));
  }

  /** The keeper may wipe between two effects; who had pinned the tree is told. */
  @Test
  void a_workspace_whose_time_was_over_is_new_and_a_pin_of_the_old_one_does_not_hold() {
    serve(ask("desk"));
    home.workspaces.wipe("acme", "run-1", "expired", TestHome.START);
    assertThat(refused(ask("desk").pins(tree("a")))).isEqualTo("EXE-310");
    left(serve(ask("desk").pins(NEW)), "", "a");
    assertThat(
            Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
                .notVerified())
        .anyMatch(line -> line.startsWith("1 effects: found their workspace empty"));
  }

  @Test
  void a_change_by_nobody_in_the_log_is_told_by_the_audit() {
    serve(ask("desk"));
    home.workspaces.append("acme", "run-1", "by hand");
    left(serve(ask("desk")), "aby hand", "aby handa");
    AuditReport report =
        Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {});
    assertThat(report.problems()).isEmpty();
    assertThat(report.notVerified())
        .anyMatch(line -> line.contains("1 effects: found their workspace other than"));
    assertThat(Optional.of(report.isSound())).contains(true);
  }
}
