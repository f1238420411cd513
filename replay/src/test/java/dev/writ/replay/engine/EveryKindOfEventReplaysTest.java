package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.RecordedCode;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.StoreStage;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Whatever a kernel writes, a replay comes to the same bytes. */
class EveryKindOfEventReplaysTest extends ASampleHome {
  private ReplayResult replays(String... kinds) {
    assertThat(home.kinds("acme", "run-1")).contains(kinds);
    return Replayed.completely(home, Sample.RUN);
  }

  @Test
  void of_a_run_with_everything_that_is_closed() {
    Sample.fill(home);
    Sample.close(home, "run-1");
    ReplayResult result = replays(EventKind.RUN_CLOSED, EventKind.APPROVAL_RECEIVED);
    assertThat(result.reexecuted())
        .containsExactly(
            "8 decisions: admitted and judged by all four checks",
            "6 intents: issued, with seeds derived from the run's",
            "5 effects: through all eight stages, on the recorded outcome of the tool",
            "1 closings: events, receipts and run hash counted again");
    assertThat(result.neither())
        .containsExactly(
            "1 effects: only the receipt was made again, their output is not in the bundle");
  }

  @Test
  void rejections_and_requests_that_still_wait() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    home.reject(pay, "rita");
    Envelope twice = home.ask("alice").tool("pay").operation("twice").sign();
    home.submit(twice);
    home.approve(twice, "rita");
    home.submit(home.ask("alice").tool("pay"));
    replays(EventKind.APPROVAL_RECEIVED);
  }

  @Test
  void receipts_that_could_be_signed_only_later() {
    AtomicBoolean away = new AtomicBoolean(true);
    DocumentSigner signer = DocumentSigner.of(TestKeys.key("executor"));
    home.restartWith(e ->
        KernelSeam.with(
            e,
            e.receipt()
                .withSigner((type, document) -> {
                  if (away.get()) {
                    throw new WritException(CanonicalizeError.SIGNER_WRONG, "away");
                  }
                  return signer.sign(type, document);
                })));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-801");
    home.clock.forward(Duration.ofHours(1));
    away.set(false);
    home.submit(home.ask("alice").tool("sim"));
    assertThat(home.kernel().settleAwaited()).isZero();
    replays(EventKind.RECEIPT_SIGNED);
  }

  @Test
  void intents_that_lapse_and_are_judged_anew() {
    Answer late = home.decide(home.ask("alice").tool("mail").sign());
    TestRequest again = home.ask("alice").tool("sim");
    home.decide(again.sign());
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.execute(late, "alice"))).isEqualTo("EXE-107");
    home.submit(again); // its intent lapsed without a word
    replays(EventKind.EFFECT_REFUSED);
  }

  @Test
  void what_a_key_allowed_that_was_revoked_since() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Answer approved = home.approve(pay, "rita");
    home.revoke("rita");
    assertThat(Refused.code(() -> home.execute(approved, "alice"))).isEqualTo("EXE-107");
    home.submit(pay);
    home.approve(pay, "roy");
    home.submit(pay);
    ReplayResult result = replays(EventKind.EFFECT_REFUSED, EventKind.RECEIPT_SIGNED);
    assertThat(result.reexecuted()).contains("1 refusals: by the same stage with the same code");
    assertThat(result.neither()).isEmpty();
  }

  private Envelope onBehalfOfBob() {
    Request own = home.ask("alice").tool("mail").request();
    Delegation link =
        new Delegation(
            "acme",
            TestKeys.key("bob's own").kid(),
            TestKeys.key("alice").kid(),
            List.of("mail"),
            home.clock.instant(),
            home.clock.instant().plusSeconds(3600),
            0);
    return Envelope.sign(
        Request.TYPE,
        new Request(
                own.scope(),
                own.effect(),
                own.consumes(),
                own.idempotencyKey(),
                own.nonce(),
                own.requestedAt(),
                own.retention(),
                own.context(),
                own.origin(),
                own.evidence(),
                List.of(Envelope.sign(Delegation.TYPE, link.toJson(), TestKeys.key("bob's own"))))
            .toJson(),
        TestKeys.key("alice"));
  }

  @Test
  void what_a_key_delegated_that_was_revoked_since() {
    TrustedKey like = TestKeys.trusted("bob", KeyRole.AGENT, Optional.of("acme"));
    home.enrol(
        new TrustedKey(
            TestKeys.key("bob's own").verifyingKey(),
            KeyRole.PRINCIPAL,
            like.tenant(),
            "bob",
            like.notBefore(),
            like.notAfter(),
            Optional.empty()));
    Envelope before = onBehalfOfBob();
    assertThat(home.submit(before).served()).isPresent();
    Answer decided = home.decide(onBehalfOfBob());
    home.revoke("bob's own");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-107");
    assertThat(home.driver.runs()).hasSize(1);
    ReplayResult result = replays(EventKind.EFFECT_REFUSED, EventKind.RECEIPT_SIGNED);
    assertThat(result.reexecuted()).contains("1 refusals: by the same stage with the same code");
  }

  /** Kernels that did not ask for it have left records, which are as they were. */
  @Test
  void what_a_former_kernel_executed_though_who_allowed_it_was_revoked() {
    home.restartWith(KernelSeam::withFormerGate);
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Answer approved = home.approve(pay, "rita");
    home.revoke("rita");
    home.clock.forward(Duration.ofSeconds(120));
    home.execute(approved, "alice");
    ReplayResult result = replays(EventKind.RECEIPT_SIGNED);
    assertThat(result.neither())
        .containsExactly(
            "1 dispatches: whether who allowed them had a key in force, which kernels up to"
                + " November 2026 did not ask");
    home.restartWith(e -> e);
  }

  @Test
  void what_the_snapshot_stage_refuses() {
    Answer decided = home.decide(home.ask("alice").sign());
    home.activate(TestPolicy.YAML);
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-201");
    Answer next = home.decide(home.ask("alice").sign());
    home.tools.remove("calc", "1.0.0");
    assertThat(Refused.code(() -> home.execute(next, "alice"))).isEqualTo("EXE-201");
    home.tools.register(TestTools.manifest("calc", Determinism.PURE));
    home.submit(home.ask("alice"));
    ReplayResult result = replays(EventKind.EFFECT_REFUSED);
    assertThat(result.reexecuted()).contains("2 refusals: by the same stage with the same code");
  }

  /** As the tool engine does where the turn of an allowed request does not come in time. */
  @Test
  void what_was_given_up_after_it_was_allowed() {
    Envelope late = home.ask("alice").tool("mail").sign();
    home.decide(late);
    WritException why = new WritException(new RecordedCode("GWY-207"), "mail");
    assertThat(Refused.code(() -> home.kernel().giveUp(late, why))).isEqualTo("GWY-207");
    assertThat(home.driver.runs()).isEmpty();
    home.submit(late);
    assertThat(home.driver.runs()).hasSize(1);
    assertThat(home.kernel().giveUp(late, why).served()).as("it has an outcome").isPresent();
    ReplayResult result = replays(EventKind.EFFECT_REFUSED);
    assertThat(result.reexecuted()).contains("1 refusals: by the same stage with the same code");
  }

  @Test
  void what_the_prepare_stage_refuses() {
    Answer prohibited = home.decide(home.ask("alice").tool("sim").sign());
    home.prohibit("sim", "1.0.0");
    assertThat(Refused.code(() -> home.execute(prohibited, "alice"))).isEqualTo("EXE-303");
    var absent = Digest.sha256("absent".getBytes(StandardCharsets.UTF_8));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").input("a", absent, 6))))
        .isEqualTo("EXE-306");
    home.driver.refusesToPrepare(new IllegalStateException("a bug"));
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("EXE-308");
    home.driver.refusesToPrepare(new WritException(LedgerError.DISK_FULL, "for modules"));
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("LED-005");
    home.driver.refusesToPrepare(null);
    home.tools.corrupt("other code".getBytes(StandardCharsets.UTF_8));
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("EXE-308");
    ReplayResult result = replays(EventKind.EFFECT_REFUSED);
    assertThat(result.reexecuted()).contains("5 refusals: by the same stage with the same code");
  }

  @Test
  void outcomes_of_every_end() {
    for (DriverOutcome.End end : DriverOutcome.End.values()) {
      if (end != DriverOutcome.End.SUCCEEDED) {
        home.driver.does("mail", Behaviours.ends(end, "some-reason"));
        home.submit(home.ask("alice").tool("mail"));
        home.driver.does("calc", Behaviours.ends(end, "some-reason"));
        home.submit(home.ask("alice"));
      }
    }
    home.driver.does("mail", Behaviours.throwing(new IllegalStateException("a bug")));
    home.submit(home.ask("alice").tool("mail"));
    home.driver.does("calc", Behaviours::overflows);
    home.submit(home.ask("alice"));
    home.driver.does("calc", Behaviours.gives("{\"ok\":1}", Behaviours.JSON));
    home.submit(home.ask("alice")); // drift
    home.driver.does("calc", Behaviours.gives("{\"ok\":true,\"ok\":true}", Behaviours.JSON));
    home.submit(home.ask("alice")); // no canonical form
    home.driver.does("calc", Behaviours.gives("text", "text/plain"));
    home.submit(home.ask("alice")); // another media type
    home.driver.does("calc", Behaviours.gives("{ \"ok\" : true }", Behaviours.JSON));
    home.submit(home.ask("alice")); // canonicalized
    home.driver.does(
        "calc",
        _ ->
            DriverOutcome.failed(
                DriverOutcome.End.FAILED, "half", "\ud800".repeat(600), Behaviours.USED));
    home.submit(home.ask("alice")); // half a character, cut
    home.driver.does(
        "calc",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.SUCCEEDED,
                "ok",
                "",
                Optional.empty(),
                List.of(),
                Behaviours.USED,
                JsonValue.object().build()));
    home.submit(home.ask("alice")); // nothing
    home.driver.does(
        "calc",
        i ->
            new DriverOutcome(
                DriverOutcome.End.SUCCEEDED,
                "ok",
                "",
                Behaviours.echo(i).output(),
                List.of(
                    new DriverOutcome.Artifact(
                        "a.bin", new byte[] {1, 2, 3}, "application/octet-stream")),
                Behaviours.USED,
                JsonValue.object().put("n", JsonValue.of(1)).build()));
    home.submit(home.ask("alice"));
    home.submit(home.ask("alice").dropOutput());
    ReplayResult result = replays(EventKind.EFFECT_FINISHED);
    assertThat(result.reexecuted()).anyMatch(l -> l.startsWith("16 effects"));
  }

  @Test
  void output_that_could_not_be_stored() {
    home.restartWith(e ->
        KernelSeam.with(
            e,
            new StoreStage((_, _, _) -> {
              throw new WritException(LedgerError.DISK_FULL, "blobs");
            })));
    home.submit(home.ask("alice"));
    home.submit(home.ask("alice").tool("mail"));
    assertThat(home.kinds("acme", "run-1")).doesNotContain(EventKind.EFFECT_FINISHED);
    replays(EventKind.RECEIPT_SIGNED);
  }

  @Test
  void doubts_and_what_operators_find() {
    home.submit(home.ask("alice"));
    home.restartWith(e ->
        KernelSeam.with(
            e,
            e.receipt()
                .withSigner((_, _) -> {
                  throw new IllegalStateException("no key");
                })));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-801");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("sim")))).isEqualTo("EXE-801");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail").dropOutput())))
        .isEqualTo("EXE-801");
    home.clock.forward(Duration.ofMinutes(3));
    home.restartWith(e -> e);
    for (String row : home.rows(Tables.DOUBT).subList(0, 2)) {
      Served doubtful = home.kernel().receipt(TestKeys.TENANT, Digest.parse("sha256:" + row));
      home.kernel().resolve(home.resolution(doubtful, Resolution.Found.DID_NOT_HAPPEN));
    }
    home.submit(home.ask("alice"));
    ReplayResult result = replays(EventKind.DOUBT_RESOLVED);
    assertThat(result.reexecuted())
        .contains(
            "3 receipts in doubt: made by recovery",
            "2 resolutions: taken as the kernel takes them");
  }

  @Test
  void effects_that_ran_at_once() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("mail", Behaviours.blocks(begun, goOn));
    home.driver.does("sim", Behaviours.blocks(begun, goOn));
    Thread one = Thread.ofVirtual().start(() -> home.submit(home.ask("alice").tool("mail")));
    Thread two = Thread.ofVirtual().start(() -> home.submit(home.ask("alice").tool("sim")));
    begun.await();
    home.submit(home.ask("alice"));
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    goOn.countDown();
    one.join();
    two.join();
    assertThat(home.kinds("acme", "run-1").toString())
        .contains("effect.dispatched, request.received, decision.made, intent.issued");
    replays(EventKind.EFFECT_DISPATCHED);
  }

  @Test
  void an_effect_that_still_runs() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    home.driver.does("mail", Behaviours.blocks(begun, goOn));
    Thread one = Thread.ofVirtual().start(() -> home.submit(home.ask("alice").tool("mail")));
    begun.await();
    ReplayResult result = replays(EventKind.EFFECT_DISPATCHED);
    assertThat(result.neither())
        .contains("1 effects: dispatched and not finished when the bundle was taken");
    goOn.countDown();
    one.join();
  }

  @Test
  void repeats_and_keys_which_leave_no_event() {
    TestRequest first = home.ask("alice").tool("mail").key("once");
    home.submit(first);
    home.submit(first);
    home.submit(home.ask("alice").tool("mail").key("once"));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("sim").key("once"))))
        .isEqualTo("EXE-110");
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    home.execute(decided, "alice");
    home.execute(decided, "alice");
    home.execute(home.decide(home.ask("alice").sign()), "deputy");
    replays(EventKind.RECEIPT_SIGNED);
  }

  @Test
  void receipts_consumed_of_this_run_and_others() {
    Answer here = home.submit(home.ask("alice"));
    for (int i = 0; i < 5; i++) {
      home.submit(home.ask("alice").run("run-2"));
    }
    Answer there = home.submit(home.ask("alice").run("run-2"));
    home.submit(home.ask("alice").consumes(here.served().orElseThrow().id()));
    home.submit(home.ask("alice").tool("mail").consumes(there.served().orElseThrow().id()));
    // of a request that is refused nothing that it consumes is in the bundle
    Answer other = home.submit(home.ask("alice").run("run-2"));
    home.submit(
        home.ask("alice")
            .tool("mail")
            .params("{\"forbidden\":1}")
            .consumes(other.served().orElseThrow().id()));
    ReplayResult result = replays(EventKind.RECEIPT_SIGNED);
    assertThat(result.neither()).anyMatch(l -> l.startsWith("1 consumed receipts"));
  }

  @Test
  void changes_of_the_installation_in_between() {
    home.submit(home.ask("alice"));
    home.activate(TestPolicy.YAML.replace("limit: 100000", "limit: 99"));
    home.submit(home.ask("alice").tool("mail"));
    home.prohibit("sim", "1.0.0");
    home.submit(home.ask("alice"));
    home.enrol(TestKeys.trusted("carol", KeyRole.AGENT, Optional.of("acme")));
    home.revoke("bob");
    home.submit(home.ask("alice"));
    home.restart();
    home.submit(home.ask("alice").tool("mail"));
    replays(EventKind.RECEIPT_SIGNED);
  }

  @Test
  void budgets_and_other_subjects_of_the_tenant() {
    home.activate(TestPolicy.YAML.replace("limit: 100000", "limit: 3"));
    for (int i = 0; i < 5; i++) {
      home.submit(home.ask("bob").run("run-b"));
      home.submit(home.ask("alice"));
    }
    replays(EventKind.DECISION_MADE);
  }

  @Test
  void an_intent_that_expires_while_its_tool_is_made_ready() {
    home.submit(home.ask("alice"));
    home.driver.whilePreparing(() -> home.clock.forward(Intent.LIFE_MAX));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").run("late")))).isEqualTo("EXE-107");
    home.driver.whilePreparing(() -> {});
    Replayed.completely(home, new RunId("acme", "late"));
  }

  @Test
  void inputs_of_a_tenant() {
    byte[] input = "some input".getBytes(StandardCharsets.UTF_8);
    var put =
        home.kernel()
            .contents()
            .put(TestKeys.TENANT, new ByteArrayInputStream(input), "text/plain");
    home.submit(home.ask("alice").input("a.txt", put.digest(), input.length));
    home.submit(
        home.ask("alice")
            .input("a.txt", put.digest(), input.length)
            .tool("mail")
            .params("{\"forbidden\":1}"));
    replays(EventKind.RECEIPT_SIGNED);
  }

  @Test
  void a_sandbox_that_is_not_there() {
    home.submit(home.ask("alice"));
    home.tools.register(TestTools.manifest("calc", Determinism.PURE, "test", "missing-box"));
    home.tools.register(TestTools.manifest("sim", Determinism.PURE, "nobody", "box"));
    home.activate(TestPolicy.YAML);
    assertThat(Refused.code(() -> home.submit(home.ask("alice").sandbox("missing-box"))))
        .isEqualTo("EXE-305");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("sim")))).isEqualTo("EXE-304");
    RecordedRun recording = Sample.recording(home, Sample.RUN, true, false);
    Replayed.completely(home, recording);
  }

  /** What was decided before the host lost them: stage 3 refuses, and does so again here. */
  @Test
  void a_driver_and_a_sandbox_that_are_gone() {
    home.tools.register(TestTools.manifest("sim", Determinism.PURE, "nobody", "box"));
    home.tools.register(TestTools.manifest("pay", Determinism.PURE, "test", "missing-box"));
    home.activate(
        TestPolicy.YAML.replace(
            "requirements:",
            "requirements:\n  - { effect: { tool: pay }, require: { cel: 'true' } }"));
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("sim")))).isEqualTo("EXE-304");
    assertThat(
            Refused.code(() -> home.submit(home.ask("alice").tool("pay").sandbox("missing-box"))))
        .isEqualTo("EXE-305");
    ReplayResult result = replays(EventKind.EFFECT_REFUSED);
    assertThat(result.reexecuted()).contains("2 refusals: by the same stage with the same code");
  }

  @Test
  void without_blobs_and_without_tools() {
    Sample.fill(home);
    Sample.close(home, "run-1");
    ReplayResult blobless =
        Replayed.completely(home, Sample.recording(home, Sample.RUN, false, true));
    assertThat(blobless.neither())
        .containsExactly(
            "6 effects: only the receipt was made again, their output is not in the bundle");
    ReplayResult toolless =
        Replayed.completely(home, Sample.recording(home, Sample.RUN, true, false));
    assertThat(toolless.neither())
        .contains(
            "6 decisions: the manifest of their tool is not in the bundle",
            "6 effects: taken as recorded, their stages could not be run again");
    // Without its driver the same tools are replayed, but for the sandbox in the snapshot.
    ReplayResult driverless =
        new Replay(Sample.recording(home, Sample.RUN), ReplayOptions.recorded(List.of())).run();
    assertThat(driverless.state()).isEqualTo(ReplayResult.State.COMPLETE);
    assertThat(driverless.neither())
        .contains("8 snapshots: taken as recorded, the tool's driver is not here");
  }

  @Test
  void evidence_that_holds_and_evidence_that_does_not() {
    Envelope good =
        Envelope.sign(
            "application/vnd.example.tests+json",
            JsonValue.object().put("passed", true).build(),
            TestKeys.key("ci"));
    Envelope bad =
        Envelope.sign(
            "application/vnd.example.tests+json",
            JsonValue.object().put("passed", false).build(),
            TestKeys.key("nobody-known"));
    TestRequest request = home.ask("alice").tool("mail").evidence(List.of(bad.id(), good.id()));
    home.kernel().submit(request.bytes(), List.of(good, bad));
    TestRequest later = home.ask("alice").tool("mail").evidence(List.of(good.id()));
    home.decide(later.sign());
    home.clock.forward(Intent.LIFE_MAX);
    home.kernel().submit(later.bytes(), List.of(good));
    replays(EventKind.RECEIPT_SIGNED);
  }
}
