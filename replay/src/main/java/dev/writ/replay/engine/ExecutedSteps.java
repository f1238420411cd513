package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.RecordedCode;
import dev.writ.executor.SafeExecutor.Begun;
import dev.writ.executor.SystemState;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.AllowedBy;
import dev.writ.executor.stage.Dispatch.Dispatched;
import dev.writ.executor.stage.KernelTime.Reading;
import dev.writ.executor.stage.StoreStage.Stored;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.RecordedTools.Known;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Repeats stages 1 to 8 of an effect: its refusal, its dispatch and its receipt. */
final class ExecutedSteps {
  /**
   * Refusals of stage 3 that depend only on workspace or time: they are computed, not taken from
   * the recording.
   */
  private static final List<String> FOLLOW =
      List.of(
          ExecutorError.WORKSPACE_PIN.code(),
          ExecutorError.WORKSPACE_QUARANTINED.code(),
          ExecutorError.EXPIRED.code());

  /** Codes of refusals by the server: its surface gave the request up. */
  private static final String OF_THE_SERVER = "GWY-";

  /** An effect between its dispatch and its receipt. */
  private record InFlight(Event event, Optional<Dispatched> dispatched) {}

  private final RecordedKernel kernel;
  private final StepAttempts attempts;
  private final ReplayTally tally;
  private final boolean isLive;
  private final DeletedContents deleted;
  private final RecordedOutcomes outcomes;
  private final TreeMap<Digest, InFlight> inFlight = new TreeMap<>();

  /**
   * @param isLive whether tools run again
   */
  ExecutedSteps(
      RecordedKernel kernel,
      StepAttempts attempts,
      ReplayTally tally,
      boolean isLive,
      DeletedContents deleted) {
    this.kernel = kernel;
    this.attempts = attempts;
    this.tally = tally;
    this.isLive = isLive;
    this.deleted = deleted;
    this.outcomes = new RecordedOutcomes(kernel.recording);
  }

  /** The recording ends: what is still in flight was not replayed. */
  void end() {
    inFlight
        .values()
        .forEach(
            _ -> tally.neither("effects: dispatched and not finished when the bundle was taken"));
  }

  /** Repeats a refusal by stages 1 to 4. */
  void refused(Event event) {
    Refusal refusal = Refusal.read(kernel.document(event.body()).document());
    Intent intent = Intent.read(kernel.document(refusal.intent()).document());
    Decision decision = Decision.read(kernel.document(refusal.decision()).document());
    Request asked = Request.read(kernel.document(refusal.request()).document());
    boolean late = refusal.code().equals(ExecutorError.EXPIRED.code());
    kernel.time.step(event.at());
    kernel.time.set(
        Reading.GATE,
        late && !refusal.stage().equals("gate") ? intent.issuedAt() : refusal.refusedAt());
    kernel.time.set(Reading.DISPATCH, refusal.refusedAt());
    kernel.workspaces.refused(refusal, asked.effect().workspaceBefore());
    List<SystemState> candidates = kernel.states.at(event.at());
    boolean[] taken = {false};
    boolean isSame =
        attempts.attempt(
            candidates,
            state -> {
              Known known = stage(asked, decision, refusal, state.policyInForce());
              if (known == Known.NO_MANIFEST && refusal.stage().equals("prepare")) {
                taken[0] = true;
                kernel.rerun().recordedRefusal(refusal, state);
              } else {
                attempts.acted(() -> {
                  Begun begun =
                      refusal.code().startsWith(OF_THE_SERVER)
                          ? kernel
                              .rerun()
                              .giveUp(refusal.intent(), RecordedCode.thrown(refusal), state)
                          : kernel.rerun().begin(refusal.intent(), state);
                  if (begun instanceof Begun.Now now) {
                    kernel.rerun().abandon(now.dispatched());
                    attempts.require(false, "the effect is dispatched");
                  }
                });
              }
            },
            state -> kernel.rerun().recordedRefusal(refusal, state));
    if (taken[0]) {
      tally.neither("refusals: the manifest of their tool is not in the bundle");
    } else if (isSame) {
      tally.refused++;
    }
  }

  /** Sets the recorded tools for stages 2 and 3 as they were at a refusal. */
  private Known stage(Request asked, Decision decision, Refusal refusal, Policy policy) {
    Digest snapshot =
        refusal.code().equals(ExecutorError.SNAPSHOT.code())
            ? RefusalObservations.of(refusal)
                .flatMap(Observed::snapshot)
                .orElse(decision.snapshot())
            : decision.snapshot();
    Known known = kernel.tools.infer(asked.effect(), policy, snapshot);
    RecordedTools.StepFixture scene = kernel.tools.scene();
    if (refusal.stage().equals("prepare")) {
      scene.driverMissing = refusal.code().equals(ExecutorError.DRIVER_MISSING.code());
      scene.refusal = Optional.of(refusal).filter(r -> !FOLLOW.contains(r.code()));
    }
    return known;
  }

  /** Repeats stages 1 to 4, and the others where the receipt follows at once. */
  void dispatched(List<Placed> events) {
    Event event = events.getFirst().event();
    Intent intent = Intent.read(kernel.document(event.body()).document());
    Decision decision = Decision.read(kernel.document(intent.decision()).document());
    Request asked = Request.read(kernel.document(intent.request()).document());
    kernel.time.set(Reading.GATE, intent.issuedAt());
    kernel.time.set(Reading.DISPATCH, event.at());
    List<SystemState> candidates = kernel.states.at(event.at(), decision, asked.effect());
    boolean former =
        candidates.stream()
            .allMatch(s ->
                AllowedBy.revoked(decision, asked, s.trust(), kernel.recording::document)
                    .isPresent());
    if (former) {
      tally.neither(
          "dispatches: whether who allowed them had a key in force, which kernels up to November"
              + " 2026 did not ask");
    }
    Policy policy = candidates.getFirst().policyInForce();
    Known known = kernel.tools.infer(asked.effect(), policy, decision.snapshot());
    kernel.tools.scene().alone = events.size() == 1;
    kernel.workspaces.dispatched(event.body(), asked.effect().workspaceBefore());
    StepAttempts.Action instead =
        state ->
            kernel
                .rerun()
                .recordedDispatch(
                    event.body(), event.at(), kernel.workspaces.before(event.body()), state);
    kernel.journal.opened(event);
    if (known == Known.NO_MANIFEST) {
      attempts.takeOver(candidates.getFirst(), instead);
      inFlight.put(event.body(), new InFlight(event, Optional.empty()));
    } else {
      List<Dispatched> begun = new ArrayList<>();
      attempts.attempt(candidates, state -> begun.add(begin(event.body(), state, former)), instead);
      if (attempts.departed().isPresent()) {
        return;
      }
      inFlight.put(event.body(), new InFlight(event, begun.stream().findFirst()));
    }
    if (events.size() > 1) {
      finished(events.subList(1, events.size()));
    }
  }

  private Dispatched begin(Digest intent, SystemState state, boolean former) {
    Begun begun;
    try {
      begun =
          former
              ? kernel.rerun().beginAsFormerly(intent, state)
              : kernel.rerun().begin(intent, state);
    } catch (WritException refused) {
      throw new ReplayMismatch(
          kernel.comparison.missing(
              "refused with " + refused.code().code() + " " + refused.found()),
          kernel.comparison.chain());
    }
    if (begun instanceof Begun.Now now) {
      return now.dispatched();
    }
    throw new ReplayMismatch(kernel.comparison.missing("served before"), kernel.comparison.chain());
  }

  /** Repeats stages 4 to 8. */
  void finished(List<Placed> events) {
    Event event = Placed.require(events, EventKind.RECEIPT_SIGNED);
    Envelope envelope = kernel.document(event.body());
    Receipt receipt = Receipt.read(envelope.document());
    InFlight effect = inFlight.remove(receipt.intent());
    if (effect == null) {
      attempts.depart(kernel.comparison.missing("its effect does not run"));
      return;
    }
    kernel.time.step(event.at());
    kernel.workspaces.finished(receipt);
    kernel.in(receipt.region());
    Optional<Digest> observed = Placed.first(events, EventKind.EFFECT_FINISHED).map(Event::body);
    StepAttempts.Action instead =
        state -> {
          if (effect.dispatched().filter(d -> !d.committed()).isPresent()) {
            kernel
                .rerun()
                .recordedDispatch(
                    receipt.intent(), effect.event().at(), receipt.workspaceBefore(), state);
          }
          kernel.rerun().recordedReceipt(envelope, observed, event.at());
        };
    List<SystemState> only = List.of(kernel.current());
    if (receipt.status() == Status.IN_DOUBT) {
      boolean isSame =
          attempts.attempt(
              only,
              _ -> attempts.acted(() -> kernel.rerun().doubt(receipt.request(), receipt.message())),
              instead);
      tally.doubts += isSame ? 1 : 0;
    } else if (effect.dispatched().isEmpty()) {
      tally.neither("effects: taken as recorded, their stages could not be run again");
      attempts.takeOver(kernel.current(), instead);
    } else {
      finish(effect.dispatched().get(), event, receipt, instead);
    }
    kernel.journal.ended(effect.event());
  }

  private void finish(
      Dispatched dispatched, Event event, Receipt receipt, StepAttempts.Action instead) {
    List<SystemState> only = List.of(kernel.current());
    Optional<Supplier<DriverOutcome>> outcome = outcomes.of(receipt);
    if (outcome.isEmpty()) {
      Stored stored = RecordedOutcomes.stored(receipt);
      attempts.attempt(
          only,
          _ ->
              attempts.acted(
                  () -> kernel.rerun().finish(dispatched, RecordedOutcomes.unknown(), stored)),
          instead);
      tally.neither(
          "effects: only the receipt was made again, "
              + deleted
                  .reasonOf(receipt)
                  .map(reason -> "their contents were " + reason)
                  .orElse("their output is not in the bundle"));
      return;
    }
    kernel.tools.scene().outcome = outcome.get();
    boolean isSame =
        attempts.attempt(
            only,
            _ -> {
              if (isLive) {
                live(dispatched, event, receipt);
              }
              attempts.acted(() -> kernel.rerun().finish(dispatched));
            },
            instead);
    tally.effects += isSame ? 1 : 0;
  }

  private void live(Dispatched dispatched, Event event, Receipt receipt) {
    ToolManifest manifest = dispatched.ready().manifest();
    Optional<String> reason = Live.unable(dispatched, receipt, kernel.tools, kernel.recording);
    if (reason.isPresent()) {
      tally.neither("effects: " + reason.get());
      return;
    }
    try {
      kernel.tools.scene().live =
          Optional.of(
              kernel.tools.prepare(
                  manifest,
                  dispatched.ready().order().request().effect().operation(),
                  dispatched.ready().host()));
    } catch (WritException e) {
      tally.neither("effects: their tool could not be made ready again, " + e.code().code());
      return;
    }
    Stored stored = kernel.rerun().tryOut(dispatched);
    kernel.tools.scene().live = Optional.empty();
    JsonValue again = Live.comparable(stored);
    JsonValue recorded = Live.comparable(receipt);
    List<Field> fields = FieldDifferences.of("/body", recorded, again);
    if (fields.isEmpty()) {
      tally.live++;
    } else {
      kernel.comparison.outcome(event, fields, kernel.outputs.diff(recorded, again));
    }
  }
}
