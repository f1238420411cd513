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
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.event.Event;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Recording;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Repeats one step after the other, each in its recorded surroundings. */
final class Stepping implements AutoCloseable {
<<<<<<< HEAD
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
=======
  private final RecordedKernel kernel;
  private final StepAttempts attempts;
  private final JudgedSteps judging;
  private final ExecutedSteps executing;
  private final ReplayTally tally;
>>>>>>> h/house4

  Stepping(
      RecordedRun recording,
      ReplayOptions options,
      RecordedKernel.Maker maker,
      ReplayTally tally,
      List<Divergence> divergences,
      DeletedContents deleted) {
    this.kernel = new RecordedKernel(recording, options.drivers(), maker, tally);
    this.attempts = new StepAttempts(kernel, options.all(), divergences);
    this.judging = new JudgedSteps(kernel, attempts, tally);
    this.executing = new ExecutedSteps(kernel, attempts, tally, options.live(), deleted);
    this.tally = tally;
<<<<<<< HEAD
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
=======
>>>>>>> h/house4
  }

  void system(Event event) {
    kernel.system(event);
  }

  Optional<Digest> hash() {
    return kernel.comparison.chain().hash();
  }

  Optional<Digest> departed() {
    return attempts.departed();
  }

  /** At the end of the recording. */
  void end() {
    executing.end();
  }

  @Override
  public void close() {
    kernel.close();
  }

  void step(List<Placed> events) {
    kernel.step(events);
    Event first = events.getFirst().event();
    switch (first.kind()) {
      case EventKind.RUN_OPENED -> {
        kernel.seed.set(first.prngSeed().orElse("0".repeat(64)));
        judging.judged(events, Optional.empty());
      }
      case EventKind.REQUEST_RECEIVED, EventKind.DECISION_MADE ->
          judging.judged(events, Optional.empty());
      case EventKind.APPROVAL_RECEIVED -> judging.judged(events, Optional.of(first));
      case EventKind.EFFECT_REFUSED -> executing.refused(first);
      case EventKind.EFFECT_DISPATCHED -> executing.dispatched(events);
      case EventKind.EFFECT_FINISHED, EventKind.RECEIPT_SIGNED -> executing.finished(events);
      case EventKind.DOUBT_RESOLVED -> resolved(first);
      case EventKind.RUN_CLOSED -> closed(first);
      default ->
          throw new WritException(ReplayError.REPLAY_FAILED, "an event of kind " + first.kind());
    }
  }

  private void resolved(Event event) {
    Envelope envelope = kernel.document(event.body());
    Resolution resolution = Resolution.read(envelope.document());
    boolean isSame =
        attempts.attempt(
            kernel.states.at(event.at()),
            state -> attempts.acted(() -> kernel.rerun().resolve(envelope, state)),
            _ ->
                kernel
                    .rerun()
                    .recordedEvent(
                        event.runId(),
                        event.kind(),
                        event.body(),
                        event.at(),
                        Optional.of(resolution.receipt())));
    tally.resolutions += isSame ? 1 : 0;
  }

  private void closed(Event event) {
    RunClosing closing = RunClosing.read(kernel.document(event.body()).document());
    Envelope request = kernel.document(closing.request());
    boolean isSame =
        attempts.attempt(
            kernel.states.at(event.at()),
            state -> attempts.acted(() -> kernel.rerun().close(request, state)),
            _ ->
                kernel
                    .rerun()
                    .recordedEvent(
                        event.runId(), event.kind(), event.body(), event.at(), Optional.empty()));
    tally.closings += isSame ? 1 : 0;
  }
}
