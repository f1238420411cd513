package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.KernelRerun;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Surroundings;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.RecordedAccounts;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Observed;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Optional;

/**
 * The part of the kernel that repeats a run, in its recorded surroundings: time, seed, accounts,
 * tools, workspaces and the journal are those of the recording, and a step sets them before it
 * acts.
 */
final class RecordedKernel implements AutoCloseable {
  /** Makes the parts that act. */
  @FunctionalInterface
  interface Maker {
    Maker KERNEL = KernelRerun::new;

    KernelRerun make(Surroundings surroundings);
  }

  final RecordedRun recording;
  final ScriptedTime time = new ScriptedTime();
  final RecordedSeed seed = new RecordedSeed();
  final RecordedAccounts accounts = new RecordedAccounts();
  final SystemStates states;
  final RecordedTools tools;
  final RecordedWorkspaces workspaces;
  final Outputs outputs;
  final Comparison comparison;
  final RecordedJournal journal;

  private final Maker maker;
  private final ReplayTally tally;
  private Audience audience;
  private KernelRerun rerun;
  private SystemState current = SystemState.NOTHING;
  private Optional<String> region = Optional.empty();

  RecordedKernel(RecordedRun recording, List<Driver> drivers, Maker maker, ReplayTally tally) {
    this.recording = recording;
    this.maker = maker;
    this.tally = tally;
    this.states = new SystemStates(recording);
    this.tools = RecordedTools.of(recording, drivers);
    this.workspaces = new RecordedWorkspaces(recording);
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
            tools,
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

  /** The parts that act. */
  KernelRerun rerun() {
    return rerun;
  }

  /** The state under which the last attempt was made. */
  SystemState current() {
    return current;
  }

  /** What acts from here on acts under that state. */
  void under(SystemState state) {
    current = state;
  }

  /** Where the effect ran that is finished now. */
  void in(Optional<String> place) {
    region = place;
  }

  /** Begins a step. */
  void step(List<Placed> events) {
    comparison.step(events);
    outputs.forget();
    journal.hide(List.of());
    time.step(events.getFirst().event().at());
  }

  /**
   * A document of the recording.
   *
   * @throws WritException {@code RPL-023} where it has none
   */
  Envelope document(Digest id) {
    return recording
        .document(id)
        .orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, "document " + id));
  }

  /**
   * Whether the tenant's store had an input: it had, unless the recorded refusal says that it had
   * not.
   */
  private boolean readable(Input input) {
    boolean refused =
        tools
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

  /** Takes an event of the system's log: the state changes, or the next incarnation begins. */
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
  void ownedBy(Intent issued) {
    Optional<Long> epoch = issued.audience().epoch();
    if (!epoch.equals(audience.epoch())) {
      audience = audience.under(epoch);
      rerun = make();
    }
  }

  @Override
  public void close() {
    journal.close();
  }
}
