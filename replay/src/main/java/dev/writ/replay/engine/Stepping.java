package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.event.Event;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.RecordedRun;
import java.util.List;
import java.util.Optional;

/** Repeats one step after the other, each in its recorded surroundings. */
final class Stepping implements AutoCloseable {
  private final RecordedKernel kernel;
  private final StepAttempts attempts;
  private final JudgedSteps judging;
  private final ExecutedSteps executing;
  private final ReplayTally tally;

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
