package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.KernelTime.Reading;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.WhatIf;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Snapshot;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.RecordedTools.Known;
import dev.writ.replay.error.ReplayError;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Repeats judgements: of a request, or of an approval that came for it. */
final class JudgedSteps {
  private final RecordedKernel kernel;
  private final StepAttempts attempts;
  private final ReplayTally tally;

  JudgedSteps(RecordedKernel kernel, StepAttempts attempts, ReplayTally tally) {
    this.kernel = kernel;
    this.attempts = attempts;
    this.tally = tally;
  }

  /**
   * Repeats a judgement.
   *
   * @param approval the event of the approval, where it came for a request that waited
   */
  void judged(List<Placed> events, Optional<Event> approval) {
    if (events.stream().noneMatch(p -> p.kind().equals(EventKind.DECISION_MADE))) {
      // What is received is judged.
      attempts.depart(kernel.comparison.extra(EventKind.DECISION_MADE));
      return;
    }
    Event event = Placed.require(events, EventKind.DECISION_MADE);
    Envelope envelope = kernel.document(event.body());
    Decision decision = Decision.read(envelope.document());
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    Envelope request = kernel.document(decision.request());
    Request asked = Request.read(request.document());
    Optional<Event> issued = Placed.first(events, EventKind.INTENT_ISSUED);
    issued.ifPresent(e -> kernel.ownedBy(Intent.read(kernel.document(e.body()).document())));
    kernel.time.step(event.at());
    kernel.time.set(
        Reading.ADMISSION,
        Placed.first(events, EventKind.REQUEST_RECEIVED)
            .map(Event::at)
            .orElse(inputs.receivedAt()));
    approval.ifPresent(e -> kernel.time.set(Reading.APPROVAL, e.at()));
    issued.ifPresent(e -> kernel.time.set(Reading.INTENT, e.at()));
    kernel.accounts.expect(inputs);
    List<Digest> seen =
        Stream.concat(
                inputs.artifacts().stream().map(JudgeInputs.SeenArtifact::id),
                inputs.ignored().stream().map(JudgeInputs.Ignored::id))
            .filter(asked.evidence()::contains)
            .toList();
    kernel.journal.hide(asked.evidence().stream().filter(id -> !seen.contains(id)).toList());
    List<Envelope> evidence = kernel.rerun().documents(seen);
    List<SystemState> candidates = kernel.states.at(event.at(), decision, asked.effect());
    Policy policy = candidates.getFirst().policyInForce();
    Known known = kernel.tools.infer(asked.effect(), policy, decision.snapshot());
    requireSupported(known, asked, decision, event);
    StepAttempts.Action instead =
        state ->
            kernel
                .rerun()
                .recordedDecision(
                    request,
                    approval.map(e -> kernel.document(e.body())),
                    envelope,
                    issued.map(e -> kernel.document(e.body())),
                    state);
    if (known == Known.NO_MANIFEST && decision.verdict() == Verdict.ALLOW) {
      tally.neither("decisions: the manifest of their tool is not in the bundle");
      attempts.takeOver(candidates.getFirst(), instead);
      return;
    }
    boolean isSame =
        attempts.attempt(
            candidates,
            state ->
                attempts.acted(() -> {
                  if (approval.isPresent()) {
                    kernel.rerun().approve(kernel.document(approval.get().body()), state);
                  } else {
                    kernel.rerun().judge(request, evidence, inputs.receivedAt(), state);
                  }
                }),
            instead);
    if (!isSame && known == Known.NO_MANIFEST && onlyTheTool(decision)) {
      attempts.takeBack();
      tally.neither("decisions: the manifest of their tool is not in the bundle");
      if (!kernel.comparison.isDone()) {
        attempts.takeOver(candidates.getFirst(), instead);
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

  /**
   * The last check is the only one that reads the manifest. Where its outcome differs, code and
   * verdict may follow from it; where it does not, they follow from checks that were done again.
   */
  private boolean onlyTheTool(Decision decision) {
    String envelopeCheck = "/body/checks/" + (decision.checks().size() - 1) + "/";
    List<String> pointers =
        attempts.found().stream()
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
}
