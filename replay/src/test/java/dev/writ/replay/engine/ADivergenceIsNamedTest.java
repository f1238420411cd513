package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.CanonicalizeStage;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.Drift;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.Preflight;
import dev.writ.executor.stage.Prepare;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Result;
import dev.writ.executor.stage.SnapshotStage;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.Tools;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Intent;
import dev.writ.ledger.MemoryJournal;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.Divergence.Kind;
import dev.writ.replay.error.ReplayError;
import dev.writ.replay.report.JUnitReport;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Whoever holds the keys can sign another story, and whoever changes a stage tells another one: the
 * replay names the event, the fields and both values.
 */
class ADivergenceIsNamedTest extends ASampleHome {
  /** Three effects, a denial, a refusal, a failure, and the closing. */
  private RecordedRun recording() {
    home.submit(home.ask("alice"));
    home.submit(home.ask("alice").tool("mail"));
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    Answer late = home.decide(home.ask("alice").tool("sim").sign());
    home.clock.forward(Intent.LIFE_MAX);
    assertThat(Refused.code(() -> home.execute(late, "alice"))).isEqualTo("EXE-107");
    home.driver.does("mail", Behaviours.fails());
    home.submit(home.ask("alice").tool("mail"));
    home.driver.does("calc", Behaviours.gives("{ \"ok\": true, \"n\": 1 }", Behaviours.JSON));
    home.submit(home.ask("alice"));
    Sample.close(home, "run-1");
    return Sample.recording(home, Sample.RUN);
  }

  /** The seq of the n-th event of a kind, from 0. */
  private static Event nth(RecordedRun recording, String kind, int n) {
    List<Event> found = new ArrayList<>();
    recording.events((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN && event.kind().equals(kind)) {
        found.add(event);
      }
    });
    return found.get(n);
  }

  private ReplayOptions options() {
    return ReplayOptions.recorded(List.copyOf(home.drivers));
  }

  private Divergence only(RecordedRun recording, Kind kind, long seq, String event) {
    ReplayResult result = new Replay(recording, options()).run();
    assertThat(result.failure()).isEmpty();
    return only(result, kind, seq, event);
  }

  private static Divergence only(ReplayResult result, Kind kind, long seq, String event) {
    assertThat(result.failure()).isEmpty();
    assertThat(result.state()).isEqualTo(ReplayResult.State.DIVERGED);
    assertThat(result.divergences()).hasSize(1);
    Divergence divergence = result.divergences().getFirst();
    assertThat(divergence.kind()).as(divergence.headline()).isEqualTo(kind);
    assertThat(divergence.seq()).as(divergence.headline()).isEqualTo(seq);
    assertThat(divergence.event()).isEqualTo(event);
    assertThat(result.replayHash()).isPresent().isNotEqualTo(result.runHash());
    return divergence;
  }

  private static List<String> pointers(Divergence divergence) {
    return divergence.fields().stream().map(Field::pointer).toList();
  }

  // Forged recordings.

  @Test
  void an_outcome_that_the_executor_signed_otherwise() {
    RecordedRun honest = recording();
    Event receipt = nth(honest, EventKind.RECEIPT_SIGNED, 2);
    Forged forged =
        Forged.document(
            honest, receipt.seq(), d -> Forged.with(d, "reason", JsonValue.of("exit-2")));
    Divergence divergence = only(forged, Kind.MISMATCH, receipt.seq(), EventKind.RECEIPT_SIGNED);
    assertThat(divergence.fields()).containsExactly(new Field("/body/reason", "exit-2", "exit-1"));
    assertThat(divergence.lastMatch()).isEqualTo(receipt.seq() - 1);
    assertThat(divergence.headline())
        .isEqualTo(
            "RPL-001 diverged at event "
                + receipt.seq()
                + " (receipt.signed) run=acme/run-1 field=/body/reason recorded=exit-2"
                + " replayed=exit-1 last-match="
                + (receipt.seq() - 1)
                + " seed="
                + nth(honest, EventKind.EFFECT_DISPATCHED, 2).prngSeed().orElseThrow());
  }

  @Test
  void output_that_no_stage_gives_with_both_texts() {
    RecordedRun honest = recording();
    Event receipt = nth(honest, EventKind.RECEIPT_SIGNED, 3);
    byte[] loose = "{ \"ok\": true, \"n\": 2 }".getBytes(StandardCharsets.UTF_8);
    Forged forged =
        Forged.document(
                honest,
                receipt.seq(),
                d ->
                    Forged.with(
                        d,
                        "output",
                        JsonValue.object()
                            .put("digest", Digest.sha256(loose))
                            .put("size", (long) loose.length)
                            .put("media_type", "application/json")
                            .build()))
            .withBlob(loose);
    Divergence divergence = only(forged, Kind.MISMATCH, receipt.seq(), EventKind.RECEIPT_SIGNED);
    assertThat(pointers(divergence)).containsExactly("/body/output/digest", "/body/output/size");
    assertThat(divergence.diff()).isPresent();
  }

  @Test
  void a_decision_that_the_guardian_signed_otherwise() {
    RecordedRun honest = recording();
    Event decision = nth(honest, EventKind.DECISION_MADE, 2);
    Forged forged =
        Forged.document(
            honest,
            decision.seq(),
            d ->
                Forged.with(
                    Forged.with(d, "verdict", JsonValue.of("ESCALATE")),
                    "code",
                    JsonValue.of("GRD-103")));
    Divergence divergence = only(forged, Kind.MISMATCH, decision.seq(), EventKind.DECISION_MADE);
    assertThat(pointers(divergence)).containsExactly("/body/code", "/body/verdict");
    assertThat(divergence.fields().getLast())
        .isEqualTo(new Field("/body/verdict", "ESCALATE", "DENY"));
  }

  @Test
  void a_lamport_a_seed_a_refusal_and_a_closing() {
    RecordedRun honest = recording();
    Event receipt = nth(honest, EventKind.RECEIPT_SIGNED, 1);
    assertThat(
            only(
                    Forged.document(
                        honest, receipt.seq(), d -> Forged.with(d, "lamport", JsonValue.of(7))),
                    Kind.MISMATCH,
                    receipt.seq(),
                    EventKind.RECEIPT_SIGNED)
                .fields())
        .containsExactly(new Field("/body/lamport", "7", "2"));

    Event intent = nth(honest, EventKind.INTENT_ISSUED, 1);
    String other = "ab".repeat(32);
    assertThat(
            pointers(
                only(
                    Forged.document(
                        honest,
                        intent.seq(),
                        d -> Forged.with(d, "prng_seed", JsonValue.of(other))),
                    Kind.MISMATCH,
                    intent.seq(),
                    EventKind.INTENT_ISSUED)))
        .containsExactly("/body/prng_seed");

    Event refusal = nth(honest, EventKind.EFFECT_REFUSED, 0);
    assertThat(
            only(
                    Forged.document(
                        honest,
                        refusal.seq(),
                        d -> Forged.with(d, "code", JsonValue.of("EXE-105"))),
                    Kind.MISMATCH,
                    refusal.seq(),
                    EventKind.EFFECT_REFUSED)
                .fields())
        .containsExactly(new Field("/body/code", "EXE-105", "EXE-107"));

    Event closed = nth(honest, EventKind.RUN_CLOSED, 0);
    assertThat(
            only(
                    Forged.document(
                        honest, closed.seq(), d -> Forged.with(d, "receipts", JsonValue.of(3))),
                    Kind.MISMATCH,
                    closed.seq(),
                    EventKind.RUN_CLOSED)
                .fields())
        .containsExactly(new Field("/body/receipts", "3", "4"));
  }

  @Test
  void events_that_were_dropped_added_or_changed() {
    RecordedRun honest = recording();
    Event finished = nth(honest, EventKind.EFFECT_FINISHED, 1);
    Divergence extra =
        only(
            Forged.event(honest, finished.seq(), _ -> List.of()),
            Kind.EXTRA,
            finished.seq(),
            EventKind.EFFECT_FINISHED);
    assertThat(extra.headline()).startsWith("RPL-003 ");

    Event decision = nth(honest, EventKind.DECISION_MADE, 2);
    only(
        Forged.event(honest, decision.seq(), _ -> List.of()),
        Kind.EXTRA,
        decision.seq(),
        EventKind.DECISION_MADE);
    Divergence missing =
        only(
            Forged.event(honest, decision.seq(), e -> List.of(e, e)),
            Kind.MISSING,
            decision.seq() + 1,
            EventKind.DECISION_MADE);
    assertThat(missing.headline()).startsWith("RPL-002 ");

    Event dispatched = nth(honest, EventKind.EFFECT_DISPATCHED, 0);
    assertThat(
            pointers(
                only(
                    Forged.event(
                        honest,
                        dispatched.seq(),
                        e ->
                            List.of(
                                new Event(
                                    e.tenant(),
                                    e.run(),
                                    e.seq(),
                                    e.kind(),
                                    e.prev(),
                                    e.body(),
                                    e.at(),
                                    Optional.of("cd".repeat(32))))),
                    Kind.MISMATCH,
                    dispatched.seq(),
                    EventKind.EFFECT_DISPATCHED)))
        .containsExactly("/prng_seed");
    only(
        Forged.event(honest, dispatched.seq(), _ -> List.of()),
        Kind.MISSING,
        dispatched.seq(),
        EventKind.EFFECT_FINISHED);
    Event receipt = nth(honest, EventKind.RECEIPT_SIGNED, 0);
    only(
        Forged.event(honest, receipt.seq(), e -> List.of(e, e)),
        Kind.MISSING,
        receipt.seq() + 1,
        EventKind.RECEIPT_SIGNED);
  }

  /** Judged under what was in force instead, it is another decision. */
  @Test
  void a_decision_under_a_policy_that_never_was_in_force() {
    RecordedRun honest = recording();
    Event decision = nth(honest, EventKind.DECISION_MADE, 2);
    JsonValue other = JsonValue.of(Digest.sha256(new byte[] {1}).toString());
    Divergence divergence =
        only(
            Forged.document(honest, decision.seq(), d -> Forged.with(d, "policy", other)),
            Kind.MISMATCH,
            decision.seq(),
            EventKind.DECISION_MADE);
    assertThat(pointers(divergence)).containsExactly("/body/policy");
    assertThat(divergence.lastMatch()).isEqualTo(decision.seq() - 1);
  }

  @Test
  void a_kernel_that_is_not_known_here_is_unsupported() {
    RecordedRun honest = recording();
    Event decision = nth(honest, EventKind.DECISION_MADE, 0);
    ReplayResult result =
        new Replay(
                Forged.document(
                    honest,
                    decision.seq(),
                    d ->
                        Forged.with(
                            d, "snapshot", JsonValue.of(Digest.sha256(new byte[] {1}).toString()))),
                options())
            .run();
    assertThat(result.state()).isEqualTo(ReplayResult.State.FAILED);
    assertThat(result.failure().orElseThrow().code()).isEqualTo(ReplayError.KERNEL_UNKNOWN);
  }

  @Test
  void what_is_cut_so_that_nothing_can_go_on_fails_with_a_code() {
    RecordedRun honest = recording();
    ReplayResult result =
        new Replay(
                Forged.event(
                    honest,
                    nth(honest, EventKind.REQUEST_RECEIVED, 0).seq(),
                    e ->
                        List.of(
                            new Event(
                                e.tenant(),
                                e.run(),
                                e.seq(),
                                "no.kind",
                                e.prev(),
                                e.body(),
                                e.at(),
                                e.prngSeed()))),
                options())
            .run();
    assertThat(result.state()).isIn(ReplayResult.State.FAILED, ReplayResult.State.DIVERGED);
    result.failure().ifPresent(f -> assertThat(f.code()).isEqualTo(ReplayError.REPLAY_FAILED));
  }

  @Test
  void all_of_them_where_all_are_asked_for() {
    RecordedRun honest = recording();
    Event decision = nth(honest, EventKind.DECISION_MADE, 2);
    Event receipt = nth(honest, EventKind.RECEIPT_SIGNED, 3);
    Forged one =
        Forged.document(
            honest, decision.seq(), d -> Forged.with(d, "code", JsonValue.of("GRD-199")));
    Forged both =
        Forged.document(one, receipt.seq(), d -> Forged.with(d, "lamport", JsonValue.of(99)));
    ReplayResult result = new Replay(both, options().withAll()).run();
    assertThat(result.divergences().stream().map(d -> d.seq() + " " + pointers(d)))
        .containsExactly(decision.seq() + " [/body/code]", receipt.seq() + " [/body/lamport]");
    assertThat(result.failure()).isEmpty();
    assertThat(result.replayHash()).isNotEqualTo(result.runHash());
  }

  // Stages that do something else.

  private Divergence broken(
      RecordedRun recording, Kind kind, long seq, String event, UnaryOperator<SafeExecutor> seam) {
    ReplayResult result =
        new Replay(recording, options(), surroundings -> KernelSeam.rerun(surroundings, seam))
            .run();
    // And it goes on, where all is asked for: nothing is thrown, nothing ends early.
    ReplayResult all =
        new Replay(
                recording,
                options().withAll(),
                surroundings -> KernelSeam.rerun(surroundings, seam))
            .run();
    assertThat(all.failure()).isEmpty();
    assertThat(all.divergences().getFirst().headline())
        .isEqualTo(result.divergences().getFirst().headline());
    return only(result, kind, seq, event);
  }

  private static SafeExecutor with(
      SafeExecutor e,
      Gate gate,
      SnapshotStage snapshot,
      Prepare prepare,
      Dispatch dispatch,
      Drift drift,
      CanonicalizeStage canonicalize,
      StoreStage store,
      ReceiptStage receipt) {
    return new SafeExecutor(
        e.time(),
        e.preflight(),
        gate,
        e.idempotency(),
        snapshot,
        e.tools(),
        prepare,
        dispatch,
        drift,
        canonicalize,
        store,
        receipt,
        e.refusals(),
        e.stages(),
        e.elsewhere());
  }

  @Test
  void stage_1_with_another_audience() {
    RecordedRun recording = recording();
    Divergence divergence =
        broken(
            recording,
            Kind.MISSING,
            nth(recording, EventKind.EFFECT_DISPATCHED, 0).seq(),
            EventKind.EFFECT_DISPATCHED,
            e ->
                with(
                    e,
                    new Gate(new Audience("other", 1)),
                    e.snapshot(),
                    e.prepare(),
                    e.dispatch(),
                    e.drift(),
                    e.canonicalize(),
                    e.store(),
                    e.receipt()));
    assertThat(divergence.fields().getFirst().replayed()).contains("EXE-105");
  }

  @Test
  void stage_2_that_refuses_all_and_one_that_refuses_nothing() {
    RecordedRun recording = recording();
    Divergence divergence =
        broken(
            recording,
            Kind.MISMATCH,
            nth(recording, EventKind.EFFECT_DISPATCHED, 0).seq(),
            EventKind.EFFECT_DISPATCHED,
            e ->
                with(
                    e,
                    e.gate(),
                    new SnapshotStage() {
                      @Override
                      public void verify(Preflight.Order order, Tools.Circumstances current) {
                        throw new WritException(ExecutorError.SNAPSHOT, "broken");
                      }
                    },
                    e.prepare(),
                    e.dispatch(),
                    e.drift(),
                    e.canonicalize(),
                    e.store(),
                    e.receipt()));
    assertThat(divergence.fields())
        .contains(
            new Field("/kind", EventKind.EFFECT_DISPATCHED, EventKind.EFFECT_REFUSED),
            new Field("/body/code", "nothing", "EXE-201"));
  }

  @Test
  void stage_2_that_lets_everything_pass() {
    Answer decided = home.decide(home.ask("alice").sign());
    home.activate(TestPolicy.YAML);
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-201");
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    Divergence divergence =
        broken(
            recording,
            Kind.MISSING,
            nth(recording, EventKind.EFFECT_REFUSED, 0).seq(),
            EventKind.EFFECT_REFUSED,
            e ->
                with(
                    e,
                    e.gate(),
                    new SnapshotStage() {
                      @Override
                      public void verify(Preflight.Order order, Tools.Circumstances current) {}
                    },
                    e.prepare(),
                    e.dispatch(),
                    e.drift(),
                    e.canonicalize(),
                    e.store(),
                    e.receipt()));
    assertThat(divergence.fields()).isNotEmpty();
  }

  @Test
  void stage_3_that_prohibits_every_tool() {
    RecordedRun recording = recording();
    broken(
        recording,
        Kind.MISMATCH,
        nth(recording, EventKind.EFFECT_DISPATCHED, 0).seq(),
        EventKind.EFFECT_DISPATCHED,
        e ->
            with(
                e,
                e.gate(),
                e.snapshot(),
                new Prepare(
                    e.tools(),
                    (_, _) -> true,
                    (_, _, _) -> true,
                    new WorkspaceUse(home.ledger(), home.workspaces)),
                e.dispatch(),
                e.drift(),
                e.canonicalize(),
                e.store(),
                e.receipt()));
  }

  @Test
  void stage_5_that_lets_drift_pass() {
    home.driver.does("calc", Behaviours.gives("{\"ok\":1}", Behaviours.JSON));
    home.submit(home.ask("alice"));
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    Divergence divergence =
        broken(
            recording,
            Kind.MISMATCH,
            nth(recording, EventKind.RECEIPT_SIGNED, 0).seq(),
            EventKind.RECEIPT_SIGNED,
            e ->
                with(
                    e,
                    e.gate(),
                    e.snapshot(),
                    e.prepare(),
                    e.dispatch(),
                    new Drift() {
                      @Override
                      public Result check(Prepare.Ready ready, Result result) {
                        return result;
                      }
                    },
                    e.canonicalize(),
                    e.store(),
                    e.receipt()));
    assertThat(divergence.fields())
        .contains(
            new Field("/body/status", "failed", "succeeded"),
            new Field("/body/code", "ERR_CONNECTOR_CONTRACT_DRIFT", "nothing"));
  }

  /** The bundle verifies: everything in it is signed by who may. Only running it again shows it. */
  @Test
  void a_kernel_whose_stage_5_let_drift_pass() {
    home.restartWith(e ->
        with(
            e,
            e.gate(),
            e.snapshot(),
            e.prepare(),
            e.dispatch(),
            new Drift() {
              @Override
              public Result check(Prepare.Ready ready, Result result) {
                return result;
              }
            },
            e.canonicalize(),
            e.store(),
            e.receipt()));
    home.driver.does("calc", Behaviours.gives("{\"ok\":1}", Behaviours.JSON));
    home.submit(home.ask("alice"));
    home.submit(home.ask("alice"));
    Sample.close(home, "run-1");
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    Divergence divergence =
        only(
            recording,
            Kind.MISMATCH,
            nth(recording, EventKind.RECEIPT_SIGNED, 0).seq(),
            EventKind.RECEIPT_SIGNED);
    assertThat(divergence.fields()).contains(new Field("/body/status", "succeeded", "failed"));
    ReplayResult all = new Replay(recording, options().withAll()).run();
    assertThat(all.failure()).isEmpty();
    assertThat(all.divergences()).hasSize(2);
    String xml =
        JUnitReport.of(
            List.of(
                new ReplaySession(
                    "a<b>.writ", Optional.empty(), false, Optional.of(all), List.of())));
    assertThat(xml)
        .contains(
            "tests=\"1\" failures=\"1\" errors=\"0\"",
            "<testcase classname=\"a&lt;b&gt;.writ\" name=\"acme/run-1\">",
            "<failure type=\"RPL-001\" message=\"RPL-001 diverged at event ");
  }

  @Test
  void stage_6_that_writes_another_form() {
    RecordedRun recording = recording();
    Divergence divergence =
        broken(
            recording,
            Kind.MISMATCH,
            nth(recording, EventKind.RECEIPT_SIGNED, 0).seq(),
            EventKind.RECEIPT_SIGNED,
            e ->
                with(
                    e,
                    e.gate(),
                    e.snapshot(),
                    e.prepare(),
                    e.dispatch(),
                    e.drift(),
                    new CanonicalizeStage() {
                      @Override
                      public Result canonicalize(Result result) {
                        return new Result(
                            result.status(),
                            result.code(),
                            result.reason(),
                            result.message(),
                            result.raw(),
                            result
                                .output()
                                .map(o ->
                                    new DriverOutcome.Output(
                                        (new String(o.bytes(), StandardCharsets.UTF_8) + " ")
                                            .getBytes(StandardCharsets.UTF_8),
                                        o.mediaType())),
                            result.parsed(),
                            result.artifacts());
                      }
                    },
                    e.store(),
                    e.receipt()));
    assertThat(pointers(divergence)).containsExactly("/body/output/digest", "/body/output/size");
    assertThat(divergence.diff()).isPresent();
  }

  @Test
  void stage_7_that_keeps_other_bytes() {
    RecordedRun recording = recording();
    Divergence divergence =
        broken(
            recording,
            Kind.MISSING,
            nth(recording, EventKind.EFFECT_FINISHED, 0).seq(),
            EventKind.EFFECT_FINISHED,
            e ->
                with(
                    e,
                    e.gate(),
                    e.snapshot(),
                    e.prepare(),
                    e.dispatch(),
                    e.drift(),
                    e.canonicalize(),
                    new StoreStage((_, _, _) -> MemoryJournal.blobOf(new byte[0])),
                    e.receipt()));
    assertThat(divergence.fields()).isNotEmpty();
  }

  @Test
  void stage_8_that_counts_otherwise() {
    home.submit(home.ask("alice"));
    Answer first = home.submit(home.ask("alice"));
    home.submit(home.ask("alice").consumes(first.served().orElseThrow().id()));
    RecordedRun recording = Sample.recording(home, Sample.RUN);
    Divergence divergence =
        broken(
            recording,
            Kind.MISMATCH,
            nth(recording, EventKind.RECEIPT_SIGNED, 2).seq(),
            EventKind.RECEIPT_SIGNED,
            e ->
                with(
                    e,
                    e.gate(),
                    e.snapshot(),
                    e.prepare(),
                    e.dispatch(),
                    e.drift(),
                    e.canonicalize(),
                    e.store(),
                    lamport(e)));
    assertThat(divergence.fields()).containsExactly(new Field("/body/lamport", "3", "100"));
  }

  private static ReceiptStage lamport(SafeExecutor e) {
    return e.receipt().withLamport(_ -> 99);
  }

  @Test
  void a_tool_that_gives_something_else_when_it_runs_again() {
    RecordedRun recording = Forged.withFiles(recording(), home.tools);
    home.driver.does("calc", Behaviours.gives("{\"ok\":true,\"n\":3}", Behaviours.JSON));
    ReplayResult result = new Replay(recording, options().withLive().withAll()).run();
    assertThat(result.divergences()).hasSize(2);
    Divergence divergence = result.divergences().getLast();
    assertThat(divergence.kind()).isEqualTo(Kind.OUTCOME);
    assertThat(divergence.headline()).startsWith("RPL-004 diverged at event ");
    assertThat(divergence.seq()).isEqualTo(nth(recording, EventKind.RECEIPT_SIGNED, 3).seq());
    assertThat(pointers(divergence)).contains("/body/output/digest");
    assertThat(divergence.diff())
        .contains(
            """
            @@ -1,4 +1,4 @@
             {
            -  "n": 1,
            +  "n": 3,
               "ok": true
             }
            """);
    // In recorded mode the same is no difference: what a tool gave is an input there.
    assertThat(new Replay(recording, options()).run().state())
        .isEqualTo(ReplayResult.State.COMPLETE);
  }
}
