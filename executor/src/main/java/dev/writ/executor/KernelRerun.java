package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.Preflight;
import dev.writ.executor.stage.Result;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.Surroundings;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Repeats the actions of a kernel one by one, with the same parts over other surroundings. The
 * caller gives their order, which is the commit order (protocol rule 15).
 *
 * <p>The {@code recorded…} methods do not repeat anything: they take over recorded results that
 * cannot be repeated, so that later actions can be.
 */
public final class KernelRerun {
  private final Surroundings surroundings;
  private final KernelWiring parts;
  private final TreeMap<Digest, Runs.Borrowed> borrowed = new TreeMap<>();

  public KernelRerun(Surroundings surroundings) {
    this(surroundings, UnaryOperator.identity());
  }

  /** For tests: replaces a stage, which the replay must then notice. */
  KernelRerun(Surroundings surroundings, UnaryOperator<SafeExecutor> seam) {
    this.surroundings = surroundings;
    this.parts = KernelWiring.of(surroundings, seam);
  }

  /**
   * Admits a request and judges it, for the first time or again. Does nothing if its earlier
   * decision still stands.
   *
   * @param evidence documents that were submitted with it
   * @param receivedAt the time of receipt that the recorded decision states, which counts for a
   *     request that was judged before
   * @throws WritException where it is not admitted or cannot be judged
   */
  public void judge(
      Envelope request, List<Envelope> evidence, Instant receivedAt, SystemState state) {
    Policy policy = state.policyInForce();
    Instant now = surroundings.time().now(KernelTime.Reading.ADMISSION);
    Optional<RequestRow> row = row(request.id());
    Admitted admitted =
        Admission.readmit(request, state.trust(), policy, row.isPresent() ? receivedAt : now, now);
    if (row.filter(r -> parts.judging().live(r, state.trust(), policy)).isPresent()) {
      return;
    }
    try (Runs.Borrowed run = parts.runs().borrow(runOf(admitted.request()))) {
      Judging.Judged judged =
          parts
              .judging()
              .judge(
                  admitted, row, List.of(), evidence, Optional.empty(), run, state.trust(), policy);
      parts.judging().commit(judged, run, ChangeOrder.ANY);
    }
  }

  /**
   * Applies an approval or rejection and judges the pending request again.
   *
   * @throws WritException as {@link Kernel#approve}
   */
  public void approve(Envelope approval, SystemState state) {
    Instant now = surroundings.time().now(KernelTime.Reading.APPROVAL);
    Digest request = Approval.read(approval.document()).request();
    RequestRow row =
        row(request)
            .filter(r -> r.state() == RequestRow.State.PENDING)
            .orElseThrow(() -> new WritException(ExecutorError.NOT_PENDING, "request " + request));
    try (Runs.Borrowed run = parts.runs().borrow(row.run())) {
      parts
          .judging()
          .approve(approval, row, run, state.trust(), state.policyInForce(), now, false)
          .ifPresent(judged -> parts.judging().commit(judged, run, ChangeOrder.ANY));
    }
  }

  /**
   * Stages 0 to 3 and the durable part of 4, as asked by the intent's holder.
   *
   * @throws WritException where a stage refuses; that is written then
   */
  public SafeExecutor.Begun begin(Digest intent, SystemState state) {
    return begin(submission(intent, state), state, parts.executor());
  }

  /**
   * The same by the gate of a former kernel ({@link dev.writ.executor.stage.Gate#asFormerly}).
   *
   * @throws WritException where a stage refuses
   */
  public SafeExecutor.Begun beginAsFormerly(Digest intent, SystemState state) {
    SafeExecutor now = parts.executor();
    return begin(submission(intent, state), state, now.with(now.gate().asFormerly()));
  }

  /**
   * The same for an intent that its surface gave up.
   *
   * @throws WritException {@code why}, or where a stage before the third refuses
   */
  public SafeExecutor.Begun giveUp(Digest intent, WritException why, SystemState state) {
    return begin(submission(intent, state).givenUp(why), state, parts.executor());
  }

  private SafeExecutor.Begun begin(
      IntentSubmission submission, SystemState state, SafeExecutor executor) {
    Digest intent = submission.intent().orElseThrow().id();
    SafeExecutor.Begun begun = null;
    try {
      begun = executor.begin(submission, state.trust(), state.policyInForce());
    } finally {
      if (begun instanceof SafeExecutor.Begun.Now) {
        borrowed.put(intent, submission.run());
      } else {
        submission.run().close();
      }
    }
    return begun;
  }

  /** The rest of the eight stages. */
  public void finish(Dispatch.Dispatched dispatched) {
    parts.executor().finish(dispatched);
    giveBack(dispatched);
  }

  /** Runs the tool now, in stages 4 to 7; writes nothing. */
  public StoreStage.Stored tryOut(Dispatch.Dispatched dispatched) {
    SafeExecutor e = parts.executor();
    Dispatch.Ran ran = e.dispatch().run(dispatched);
    return e.store()
        .store(
            ran,
            e.canonicalize().canonicalize(e.drift().check(dispatched.ready(), Result.of(ran))),
            true);
  }

  /** Stage 8 alone, for an outcome whose content is not available. */
  public void finish(
      Dispatch.Dispatched dispatched, DriverOutcome outcome, StoreStage.Stored stored) {
    Dispatch.Ran ran =
        new Dispatch.Ran(
            dispatched.ready(),
            dispatched.startedAt(),
            surroundings.time().nowOrLatest(KernelTime.Reading.END),
            outcome,
            Optional.empty(),
            parts.executor().dispatch().workspace(dispatched.ready()),
            PendingWrites.nothing(),
            dispatched.committed());
    parts.executor().receipt().sign(ran, stored);
    giveBack(dispatched);
  }

  /** Releases an effect that will not be finished. */
  public void abandon(Dispatch.Dispatched dispatched) {
    giveBack(dispatched);
  }

  private void giveBack(Dispatch.Dispatched dispatched) {
    Runs.Borrowed run = borrowed.remove(dispatched.ready().order().intentEnvelope().id());
    if (run != null) {
      run.close();
    }
  }

  /**
   * Makes the receipt of an effect in doubt.
   *
   * @param message as it was recorded: what recovery or the driver knew
   */
  public void doubt(Digest request, String message) {
    byte[] row =
        surroundings
            .journal()
            .get(Tables.DISPATCHED, Tables.key(request))
            .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, request.toString()));
    DispatchedRow dispatched = DispatchedRow.parse(row);
    parts.recovery().doubt(dispatched, message);
    Runs.Borrowed run = borrowed.remove(dispatched.intent());
    if (run != null) {
      run.close();
    }
  }

  public void resolve(Envelope resolution, SystemState state) {
    // Notes of earlier logs may be of any form.
    parts.administration().resolve(resolution, state.trust(), ChangeOrder.ANY, _ -> {});
  }

  public void close(Envelope close, SystemState state) {
    parts.closings().close(close, state.trust(), state.policyInForce(), ChangeOrder.ANY, _ -> {});
  }

  // Taking over what cannot be repeated.

  /** Takes over a recorded judgement, with its intent if there is one. */
  public void recordedDecision(
      Envelope request,
      Optional<Envelope> approval,
      Envelope decision,
      Optional<Envelope> intent,
      SystemState state) {
    Request asked = Request.read(request.document());
    Decision decided = Decision.read(decision.document());
    try (Runs.Borrowed run = parts.runs().borrow(runOf(asked))) {
      String seed = run.seedFor(decided.holder());
      try (RunTurn turn = run.turn()) {
        parts
            .judging()
            .writeRecorded(
                turn,
                request,
                seed,
                new Answer(request.id(), decision, decided, intent, Optional.empty()),
                row(request.id()),
                approval);
        turn.enqueue();
      }
    }
  }

  /** A refusal as it was recorded. */
  public void recordedRefusal(Refusal refusal, SystemState state) {
    IntentSubmission submission = submission(refusal.intent(), state);
    try (Runs.Borrowed _ = submission.run()) {
      parts
          .executor()
          .refusals()
          .write(
              new Preflight().check(submission),
              refusal.stage(),
              RecordedCode.thrown(refusal),
              refusal.refusedAt());
    }
  }

  /** Takes over the dispatch of an effect whose earlier stages cannot be run again. */
  public void recordedDispatch(
      Digest intent, Instant at, Optional<Digest> workspaceBefore, SystemState state) {
    IntentSubmission submission = submission(intent, state);
    try (Runs.Borrowed _ = submission.run()) {
      parts.executor().dispatch().commit(new Preflight().check(submission), at, workspaceBefore);
    }
  }

  /** Takes over the recorded receipt of an effect that was dispatched. */
  public void recordedReceipt(Envelope receipt, Optional<Digest> observed, Instant at) {
    Receipt read = Receipt.read(receipt.document());
    Request request = parts.idempotency().request(read.request());
    try (Runs.Borrowed run = parts.runs().borrow(runOf(request));
        RunTurn turn = run.turn()) {
      observed.ifPresent(digest -> turn.event(EventKind.EFFECT_FINISHED, digest, at));
      parts.executor().receipt().writeRecorded(turn, request, read, receipt, at);
      turn.enqueue();
    }
    Runs.Borrowed open = borrowed.remove(read.intent());
    if (open != null) {
      open.close();
    }
  }

  /** Takes over any other recorded event: a resolution, a closing. */
  public void recordedEvent(
      RunId id, String kind, Digest body, Instant at, Optional<Digest> doubt) {
    try (Runs.Borrowed run = parts.runs().borrow(id);
        RunTurn turn = run.turn()) {
      turn.event(kind, body, at);
      doubt.ifPresent(receipt -> {
        turn.unfinished(0, 0, -1);
        turn.batch().put(Tables.DOUBT, Tables.key(receipt), body.bytes());
        Receipt settled = parts.idempotency().document(receipt);
        WorkspaceUse.settled(turn, settled.scope(), settled.request());
      });
      turn.enqueue();
    }
  }

  /** Requires that a request may consume a receipt that is available. */
  public static void requireConsumable(LedgerState documents, Request request, Digest receipt) {
    Judging.requireConsumable(documents, request, receipt);
  }

  /** The current row of a request. */
  public Optional<RequestRow> row(Digest request) {
    return surroundings.journal().get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }

  /** Those of these documents that the journal has. */
  public List<Envelope> documents(List<Digest> ids) {
    List<Envelope> found = new ArrayList<>();
    ids.forEach(id -> surroundings.journal().document(id).ifPresent(found::add));
    return found;
  }

  private IntentSubmission submission(Digest intentId, SystemState state) {
    Envelope intent = document(intentId);
    Intent read = Intent.read(intent.document());
    Request request = parts.idempotency().request(read.request());
    TrustedKey holder =
        state
            .trust()
            .key(read.holder())
            .orElseThrow(() -> new WritException(ExecutorError.HOLDER, "key " + read.holder()));
    return new IntentSubmission(
        Optional.of(document(read.decision())),
        Optional.of(intent),
        Optional.of(request),
        holder,
        PendingWrites.nothing(),
        parts.runs().borrow(runOf(request)),
        true); // one thread: rows, not locks, exclude concurrent use
  }

  private Envelope document(Digest id) {
    return surroundings
        .journal()
        .document(id)
        .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, id.toString()));
  }

  private static RunId runOf(Request request) {
    return new RunId(request.scope().tenant(), request.scope().run());
  }
}
