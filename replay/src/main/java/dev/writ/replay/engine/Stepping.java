package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.KernelRerun;
import dev.writ.executor.RecordedCode;
import dev.writ.executor.SafeExecutor.Begun;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.AllowedBy;
import dev.writ.executor.stage.Dispatch.Dispatched;
import dev.writ.executor.stage.KernelTime.Reading;
import dev.writ.executor.stage.StoreStage.Stored;
import dev.writ.executor.stage.Surroundings;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.RecordedAccounts;
import dev.writ.guardian.WhatIf;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Snapshot;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.RecordedTools.Known;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Repeats one step after the other, each in its recorded surroundings. */
final class Stepping implements AutoCloseable {
  /** Makes the parts that act. */
  @FunctionalInterface
  interface Maker {
    Maker KERNEL = KernelRerun::new;

    KernelRerun make(Surroundings surroundings);
  }

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

  private final RecordedRun recording;
  private final ReplayOptions options;
  private final Maker maker;
  private final ReplayTally tally;
  private final List<Divergence> divergences;
  private final ScriptedTime time = new ScriptedTime();
  private final RecordedSeed seed = new RecordedSeed();
  private final RecordedAccounts accounts = new RecordedAccounts();
  private final DeletedContents deleted;
  private final SystemStates states;
  private final RecordedTools world;
  private final RecordedWorkspaces workspaces;
  private final RecordedOutcomes outcomes;
  private final Outputs outputs;
  private final Comparison comparison;
  private final RecordedJournal journal;
  private final TreeMap<Digest, InFlight> inFlight = new TreeMap<>();
  private Audience audience;
  private KernelRerun rerun;
  private SystemState current = SystemState.NOTHING;
  private Optional<Digest> departed = Optional.empty();
  private Optional<String> region = Optional.empty();

  Stepping(
      RecordedRun recording,
      ReplayOptions options,
      Maker maker,
      ReplayTally tally,
      List<Divergence> divergences,
      DeletedContents deleted) {
    this.recording = recording;
    this.options = options;
    this.maker = maker;
    this.tally = tally;
    this.divergences = divergences;
    this.deleted = deleted;
    this.states = new SystemStates(recording);
    this.world = RecordedTools.of(recording, options.drivers());
    this.workspaces = new RecordedWorkspaces(recording);
    this.outcomes = new RecordedOutcomes(recording);
    this.outputs = new Outputs(recording);
    this.comparison = new Comparison(recording, recording.manifest().run(), outputs);
    this.journal = new RecordedJournal(recording, comparison);
    this.audience = new Audience(recording.manifest().origin(), 1);
    this.rerun = make();
  }

  private KernelRerun make() {
    return maker.make(
        new Surroundings(
            journal,
            time,
            seed,
            accounts,
            comparison,
            comparison,
            world,
            audience,
            (tool, version) -> current.isProhibited(tool, version),
            (_, _, input) -> readable(input),
            this::consumable,
            input ->
                new ByteArrayInputStream(
                    recording
                        .blob(input.digest())
                        .orElseThrow(() ->
                            new WritException(
                                BundleError.CONTENT_MISSING, input.digest().toString()))),
            outputs,
            workspaces,
            () -> region));
  }

  /**
   * Whether the tenant's store had an input: it had, unless the recorded refusal says that it had
   * not.
   */
  private boolean readable(Input input) {
    boolean refused =
        world
            .scene()
            .refusal
            .filter(r -> r.code().equals(ExecutorError.INPUT_UNKNOWN.code()))
            .flatMap(RefusalObservations::of)
            .flatMap(Observed::input)
            .filter(input.name()::equals)
            .isPresent();
    return !refused
        && recording.blob(input.digest()).map(b -> b.length == input.size()).orElse(true);
  }

  private void consumable(Admitted admitted, Digest receipt) {
    if (recording.document(receipt).isPresent()) {
      KernelRerun.requireConsumable(journal, admitted.request(), receipt);
    } else {
      tally.neither(
          "consumed receipts: of requests that were not dispatched, so they are not in the bundle");
    }
  }

  void system(Event event) {
    states.event(event);
    Envelope signed = document(event.body());
    if (signed.payloadType().equals(SystemChange.TYPE)) {
      SystemChange.read(signed.document())
          .incarnation()
          .ifPresent(incarnation -> {
            audience = new Audience(recording.manifest().origin(), incarnation);
            rerun = make();
          });
    }
  }

  /**
   * Another owner issues intents from here on. It began with what was left in doubt, so nothing of
   * the run is in flight.
   */
  private void ownedBy(Intent issued) {
    Optional<Long> epoch = issued.audience().epoch();
    if (!epoch.equals(audience.epoch())) {
      audience = audience.under(epoch);
      rerun = make();
    }
  }

  Optional<Digest> hash() {
    return comparison.chain().hash();
  }

  Optional<Digest> departed() {
    return departed;
  }

  /** At the end of the recording. */
  void end() {
    inFlight
        .values()
        .forEach(
            _ -> tally.neither("effects: dispatched and not finished when the bundle was taken"));
  }

  @Override
  public void close() {
    journal.close();
  }

  void step(List<Placed> events) {
    comparison.step(events);
    outputs.forget();
    journal.hide(List.of());
    Event first = events.getFirst().event();
    time.step(first.at());
    switch (first.kind()) {
      case EventKind.RUN_OPENED -> {
        seed.set(first.prngSeed().orElse("0".repeat(64)));
        judged(events, Optional.empty());
      }
      case EventKind.REQUEST_RECEIVED, EventKind.DECISION_MADE -> judged(events, Optional.empty());
      case EventKind.APPROVAL_RECEIVED -> judged(events, Optional.of(first));
      case EventKind.EFFECT_REFUSED -> refused(first);
      case EventKind.EFFECT_DISPATCHED -> dispatched(events);
      case EventKind.EFFECT_FINISHED, EventKind.RECEIPT_SIGNED -> finished(events);
      case EventKind.DOUBT_RESOLVED -> resolved(first);
      case EventKind.RUN_CLOSED -> closed(first);
      default ->
          throw new WritException(ReplayError.REPLAY_FAILED, "an event of kind " + first.kind());
    }
  }

  private Envelope document(Digest id) {
    return recording
        .document(id)
        .orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, "document " + id));
  }

  // Attempts.

  /** An action of the kernel that may write. */
  private interface Action {
    void under(SystemState state);
  }

  /**
   * Runs an action under the first of several states that reproduces the recording; if none does,
   * under the newest, and reports the divergence.
   *
   * @param instead takes over the recorded events, if the replay continues after a divergence
   */
  private void attempt(List<SystemState> candidates, Action action, Action instead) {
    ReplayMismatch first = null;
    for (SystemState state : candidates) {
      comparison.attempt(false);
      current = state;
      try {
        action.under(state);
        divergences.addAll(comparison.found());
        return;
      } catch (ReplayMismatch d) {
        first = first == null ? d : first;
      }
    }
    if (!options.all()) {
      divergences.add(first.divergence());
      departed = first.chain().hash();
      return;
    }
    comparison.attempt(true);
    current = candidates.getFirst();
    try {
      action.under(current);
      divergences.addAll(comparison.found());
    } catch (ReplayMismatch d) {
      divergences.addAll(comparison.found());
      divergences.add(d.divergence());
      takeOver(current, instead);
    }
  }

  /** Takes over the recorded events, without reporting a divergence. */
  private void takeOver(SystemState state, Action instead) {
    comparison.attempt(true);
    current = state;
    instead.under(state);
  }

  /** Fails the attempt if an event of the step was not reproduced. */
  private void require(boolean written, String instead) {
    if (!written) {
      throw new ReplayMismatch(comparison.missing(instead), comparison.chain());
    }
  }

  /** A refusal by the kernel writes nothing except its own event, if it has one. */
  private void acted(Runnable action) {
    try {
      action.run();
    } catch (WritException refused) {
      require(comparison.isDone(), "refused with " + refused.code().code() + " " + refused.found());
    }
    require(comparison.isDone(), "done without it");
  }

  // Judging.

  private void judged(List<Placed> events, Optional<Event> approval) {
    if (events.stream().noneMatch(p -> p.kind().equals(EventKind.DECISION_MADE))) {
      divergences.add(comparison.extra(EventKind.DECISION_MADE)); // what is received is judged
      departed = comparison.chain().hash();
      return;
    }
    Event event = find(events, EventKind.DECISION_MADE);
    Envelope envelope = document(event.body());
    Decision decision = Decision.read(envelope.document());
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    Envelope request = document(decision.request());
    Request asked = Request.read(request.document());
    Optional<Event> issued =
        events.stream()
            .map(Placed::event)
            .filter(e -> e.kind().equals(EventKind.INTENT_ISSUED))
            .findFirst();
    issued.ifPresent(e -> ownedBy(Intent.read(document(e.body()).document())));
    time.step(event.at());
    time.set(Reading.ADMISSION, received(events).map(Event::at).orElse(inputs.receivedAt()));
    approval.ifPresent(e -> time.set(Reading.APPROVAL, e.at()));
    issued.ifPresent(e -> time.set(Reading.INTENT, e.at()));
    accounts.expect(inputs);
    List<Digest> seen =
        Stream.concat(
                inputs.artifacts().stream().map(JudgeInputs.SeenArtifact::id),
                inputs.ignored().stream().map(JudgeInputs.Ignored::id))
            .filter(asked.evidence()::contains)
            .toList();
    journal.hide(asked.evidence().stream().filter(id -> !seen.contains(id)).toList());
    List<Envelope> evidence = rerun.documents(seen);
    List<SystemState> candidates = states.at(event.at(), decision, asked.effect());
    Policy policy = candidates.getFirst().policyInForce();
    Known known = world.infer(asked.effect(), policy, decision.snapshot());
    requireSupported(known, asked, decision, event);
    Action instead =
        state ->
            rerun.recordedDecision(
                request,
                approval.map(e -> document(e.body())),
                envelope,
                issued.map(e -> document(e.body())),
                state);
    if (known == Known.NO_MANIFEST && decision.verdict() == Verdict.ALLOW) {
      tally.neither("decisions: the manifest of their tool is not in the bundle");
      takeOver(candidates.getFirst(), instead);
      return;
    }
    int before = divergences.size();
    attempt(
        candidates,
        state ->
            acted(() -> {
              if (approval.isPresent()) {
                rerun.approve(document(approval.get().body()), state);
              } else {
                rerun.judge(request, evidence, inputs.receivedAt(), state);
              }
            }),
        instead);
    if (divergences.size() > before
        && known == Known.NO_MANIFEST
        && onlyTheTool(before, decision)) {
      divergences.subList(before, divergences.size()).clear();
      departed = Optional.empty();
      tally.neither("decisions: the manifest of their tool is not in the bundle");
      if (!comparison.isDone()) {
        takeOver(candidates.getFirst(), instead);
      }
      return;
    }
    tally.judged++;
    tally.intents += issued.isPresent() ? 1 : 0;
    if (known == Known.COMPUTED) {
      tally.checked(
          "snapshots: follow from policy, package, sandbox and kernel " + Snapshot.KERNEL);
    } else {
      tally.neither(
          known == Known.NO_DRIVER
              ? "snapshots: taken as recorded, the tool's driver is not here"
              : "snapshots: taken as recorded, what was registered then is not in the bundle");
    }
  }

  private static Optional<Event> received(List<Placed> events) {
    return events.stream()
        .map(Placed::event)
        .filter(e -> e.kind().equals(EventKind.REQUEST_RECEIVED))
        .findFirst();
  }

  private static Event find(List<Placed> events, String kind) {
    return events.stream()
        .map(Placed::event)
        .filter(e -> e.kind().equals(kind))
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                ReplayError.REPLAY_FAILED,
                "event " + events.getFirst().event().seq() + " without " + kind));
  }

  /**
   * The last check is the only one that reads the manifest. Where its outcome differs, code and
   * verdict may follow from it; where it does not, they follow from checks that were done again.
   */
  private boolean onlyTheTool(int from, Decision decision) {
    String envelopeCheck = "/body/checks/" + (decision.checks().size() - 1) + "/";
    List<String> pointers =
        divergences.subList(from, divergences.size()).stream()
            .flatMap(d -> d.fields().stream())
            .map(Field::pointer)
            .filter(pointer -> !pointer.startsWith(envelopeCheck))
            .toList();
    return WhatIf.restsOnTheTool(decision)
        && List.of("/body/code", "/body/verdict").containsAll(pointers);
  }

  /**
   * Refuses an ALLOW with another snapshot although all its parts are available: it was made by a
   * kernel of another version.
   */
  private void requireSupported(Known known, Request asked, Decision decision, Event event) {
    if (known == Known.OTHER && decision.verdict() == Verdict.ALLOW) {
      throw new WritException(
          ReplayError.KERNEL_UNKNOWN,
          "event "
              + event.seq()
              + ": snapshot "
              + decision.snapshot()
              + " of "
              + asked.effect().tool()
              + " "
              + asked.effect().version()
              + " is of no kernel version known here ("
              + Snapshot.KERNEL
              + ")");
    }
  }

  // Stages 1 to 4.

  private void refused(Event event) {
    Refusal refusal = Refusal.read(document(event.body()).document());
    Intent intent = Intent.read(document(refusal.intent()).document());
    Decision decision = Decision.read(document(refusal.decision()).document());
    Request asked = Request.read(document(refusal.request()).document());
    boolean late = refusal.code().equals(ExecutorError.EXPIRED.code());
    time.step(event.at());
    time.set(
        Reading.GATE,
        late && !refusal.stage().equals("gate") ? intent.issuedAt() : refusal.refusedAt());
    time.set(Reading.DISPATCH, refusal.refusedAt());
    workspaces.refused(refusal, asked.effect().workspaceBefore());
    List<SystemState> candidates = states.at(event.at());
    int before = divergences.size();
    boolean[] taken = {false};
    attempt(
        candidates,
        state -> {
          Known known = stage(asked, decision, refusal, state.policyInForce());
          if (known == Known.NO_MANIFEST && refusal.stage().equals("prepare")) {
            taken[0] = true;
            rerun.recordedRefusal(refusal, state);
          } else {
            acted(() -> {
              Begun begun =
                  refusal.code().startsWith(OF_THE_SERVER)
                      ? rerun.giveUp(refusal.intent(), RecordedCode.thrown(refusal), state)
                      : rerun.begin(refusal.intent(), state);
              if (begun instanceof Begun.Now now) {
                rerun.abandon(now.dispatched());
                require(false, "the effect is dispatched");
              }
            });
          }
        },
        state -> rerun.recordedRefusal(refusal, state));
    if (taken[0]) {
      tally.neither("refusals: the manifest of their tool is not in the bundle");
    } else if (divergences.size() == before) {
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
    Known known = world.infer(asked.effect(), policy, snapshot);
    RecordedTools.StepFixture scene = world.scene();
    if (refusal.stage().equals("prepare")) {
      scene.driverMissing = refusal.code().equals(ExecutorError.DRIVER_MISSING.code());
      scene.refusal = Optional.of(refusal).filter(r -> !FOLLOW.contains(r.code()));
    }
    return known;
  }

  private void dispatched(List<Placed> events) {
    Event event = events.getFirst().event();
    Intent intent = Intent.read(document(event.body()).document());
    Decision decision = Decision.read(document(intent.decision()).document());
    Request asked = Request.read(document(intent.request()).document());
    time.set(Reading.GATE, intent.issuedAt());
    time.set(Reading.DISPATCH, event.at());
    List<SystemState> candidates = states.at(event.at(), decision, asked.effect());
    boolean former =
        candidates.stream()
            .allMatch(s ->
                AllowedBy.revoked(decision, asked, s.trust(), recording::document).isPresent());
    if (former) {
      tally.neither(
          "dispatches: whether who allowed them had a key in force, which kernels up to November"
              + " 2026 did not ask");
    }
    Policy policy = candidates.getFirst().policyInForce();
    Known known = world.infer(asked.effect(), policy, decision.snapshot());
    world.scene().alone = events.size() == 1;
    workspaces.dispatched(event.body(), asked.effect().workspaceBefore());
    Action instead =
        state ->
            rerun.recordedDispatch(
                event.body(), event.at(), workspaces.before(event.body()), state);
    journal.opened(event);
    if (known == Known.NO_MANIFEST) {
      takeOver(candidates.getFirst(), instead);
      inFlight.put(event.body(), new InFlight(event, Optional.empty()));
    } else {
      List<Dispatched> begun = new ArrayList<>();
      attempt(candidates, state -> begun.add(begin(event.body(), state, former)), instead);
      if (departed.isPresent()) {
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
      begun = former ? rerun.beginAsFormerly(intent, state) : rerun.begin(intent, state);
    } catch (WritException refused) {
      throw new ReplayMismatch(
          comparison.missing("refused with " + refused.code().code() + " " + refused.found()),
          comparison.chain());
    }
    if (begun instanceof Begun.Now now) {
      return now.dispatched();
    }
    throw new ReplayMismatch(comparison.missing("served before"), comparison.chain());
  }

  // Stages 4 to 8.

  private void finished(List<Placed> events) {
    Event event = find(events, EventKind.RECEIPT_SIGNED);
    Envelope envelope = document(event.body());
    Receipt receipt = Receipt.read(envelope.document());
    InFlight effect = inFlight.remove(receipt.intent());
    if (effect == null) {
      divergences.add(comparison.missing("its effect does not run"));
      departed = comparison.chain().hash();
      return;
    }
    time.step(event.at());
    workspaces.finished(receipt);
    region = receipt.region();
    Optional<Digest> observed =
        events.stream()
            .map(Placed::event)
            .filter(e -> e.kind().equals(EventKind.EFFECT_FINISHED))
            .findFirst()
            .map(Event::body);
    Action instead =
        state -> {
          if (effect.dispatched().filter(d -> !d.committed()).isPresent()) {
            rerun.recordedDispatch(
                receipt.intent(), effect.event().at(), receipt.workspaceBefore(), state);
          }
          rerun.recordedReceipt(envelope, observed, event.at());
        };
    List<SystemState> only = List.of(current);
    if (receipt.status() == Status.IN_DOUBT) {
      int before = divergences.size();
      attempt(only, _ -> acted(() -> rerun.doubt(receipt.request(), receipt.message())), instead);
      tally.doubts += divergences.size() == before ? 1 : 0;
    } else if (effect.dispatched().isEmpty()) {
      tally.neither("effects: taken as recorded, their stages could not be run again");
      takeOver(current, instead);
    } else {
      finish(effect.dispatched().get(), event, receipt, instead);
    }
    journal.ended(effect.event());
  }

  private void finish(Dispatched dispatched, Event event, Receipt receipt, Action instead) {
    List<SystemState> only = List.of(current);
    Optional<Supplier<DriverOutcome>> outcome = outcomes.of(receipt);
    int before = divergences.size();
    if (outcome.isEmpty()) {
      Stored stored = RecordedOutcomes.stored(receipt);
      attempt(
          only,
          _ -> acted(() -> rerun.finish(dispatched, RecordedOutcomes.unknown(), stored)),
          instead);
      tally.neither(
          "effects: only the receipt was made again, "
              + deleted
                  .reasonOf(receipt)
                  .map(reason -> "their contents were " + reason)
                  .orElse("their output is not in the bundle"));
      return;
    }
    world.scene().outcome = outcome.get();
    attempt(
        only,
        _ -> {
          if (options.live()) {
            live(dispatched, event, receipt);
          }
          acted(() -> rerun.finish(dispatched));
        },
        instead);
    tally.effects += divergences.size() == before ? 1 : 0;
  }

  private void live(Dispatched dispatched, Event event, Receipt receipt) {
    ToolManifest manifest = dispatched.ready().manifest();
    Optional<String> reason = Live.unable(dispatched, receipt, world, recording);
    if (reason.isPresent()) {
      tally.neither("effects: " + reason.get());
      return;
    }
    try {
      world.scene().live =
          Optional.of(
              world.prepare(
                  manifest,
                  dispatched.ready().order().request().effect().operation(),
                  dispatched.ready().host()));
    } catch (WritException e) {
      tally.neither("effects: their tool could not be made ready again, " + e.code().code());
      return;
    }
    Stored stored = rerun.tryOut(dispatched);
    world.scene().live = Optional.empty();
    JsonValue again = Live.comparable(stored);
    JsonValue recorded = Live.comparable(receipt);
    List<Field> fields = FieldDifferences.of("/body", recorded, again);
    if (fields.isEmpty()) {
      tally.live++;
    } else {
      comparison.outcome(event, fields, outputs.diff(recorded, again));
    }
  }

  // The rest.

  private void resolved(Event event) {
    Envelope envelope = document(event.body());
    Resolution resolution = Resolution.read(envelope.document());
    int before = divergences.size();
    attempt(
        states.at(event.at()),
        state -> acted(() -> rerun.resolve(envelope, state)),
        _ ->
            rerun.recordedEvent(
                event.runId(),
                event.kind(),
                event.body(),
                event.at(),
                Optional.of(resolution.receipt())));
    tally.resolutions += divergences.size() == before ? 1 : 0;
  }

  private void closed(Event event) {
    RunClosing closing = RunClosing.read(document(event.body()).document());
    Envelope request = document(closing.request());
    int before = divergences.size();
    attempt(
        states.at(event.at()),
        state -> acted(() -> rerun.close(request, state)),
        _ ->
            rerun.recordedEvent(
                event.runId(), event.kind(), event.body(), event.at(), Optional.empty()));
    tally.closings += divergences.size() == before ? 1 : 0;
  }
}
