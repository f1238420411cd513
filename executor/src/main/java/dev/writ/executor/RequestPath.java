package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.executor.stage.Surroundings;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The path of one request: admission, its turn, an outcome that it has already, judgement, and the
 * eight stages. Also the second step of a request that was only judged, and an approval, after
 * which it is judged again. {@link Kernel} says what callers may expect.
 */
final class RequestPath {
  /** To be judged only: the first of two steps. */
  static final Wanted DECIDE = new Wanted(false, false, Optional.empty());

  /** To be judged and executed. */
  static final Wanted EXECUTE = new Wanted(true, false, Optional.empty());

  private final Ledger ledger;
  private final KernelTime time;
  private final Tools tools;
  private final StageObserver stages;
  private final Runs runs;
  private final Idempotency idempotency;
  private final SafeExecutor executor;
  private final Judging judging;
  private final KeyedLocks locks;
  private final WorkspaceWipes wipes;
  private final AwaitedReceipts awaited;
  private final Admissions admissions;
  private final KeptEnvelopes kept;
  private final KernelSigningKeys ownKeys;
  private final StateGate inForce;
  private final TenantMoves moves;
  private final CellGate cell;
  private final AccountSummaries summaries;

  RequestPath(
      Ledger ledger,
      Surroundings around,
      KernelWiring parts,
      KeyedLocks locks,
      WorkspaceWipes wipes,
      AwaitedReceipts awaited,
      Admissions admissions,
      KeptEnvelopes kept,
      KernelSigningKeys ownKeys,
      StateGate inForce,
      TenantMoves moves,
      CellGate cell,
      AccountSummaries summaries) {
    this.ledger = ledger;
    this.time = around.time();
    this.tools = around.tools();
    this.stages = around.stages();
    this.runs = parts.runs();
    this.idempotency = parts.idempotency();
    this.executor = parts.executor();
    this.judging = parts.judging();
    this.locks = locks;
    this.wipes = wipes;
    this.awaited = awaited;
    this.admissions = admissions;
    this.kept = kept;
    this.ownKeys = ownKeys;
    this.inForce = inForce;
    this.moves = moves;
    this.cell = cell;
    this.summaries = summaries;
  }

  /**
   * What is wanted of a request.
   *
   * @param givenUp why it is not to be dispatched, though it is allowed
   */
  record Wanted(boolean execute, boolean holdsWorkspace, Optional<WritException> givenUp) {
    boolean dispatch() {
      return execute && givenUp.isEmpty();
    }

    Wanted holding(boolean workspace) {
      return new Wanted(execute, workspace, givenUp);
    }
  }

  /** Parses the bytes of a request, if policy allows so many. */
  Envelope parsed(byte[] request) {
    return Admission.parse(request, inForce.now().policyInForce());
  }

  /** Takes a request all the way that is wanted, or gives it the outcome that it has. */
  Answer take(
      Supplier<Envelope> request, List<Envelope> evidence, Optional<byte[]> raw, Wanted wanted) {
    Admissions.Entry entry = admission(() -> admissions.enter(request.get()));
    String tenant = entry.request().scope().tenant();
    cell.requireKnown(tenant);
    try (TenantWork.UnderWay _ = cell.begin(tenant)) {
      return cell.whileCurrent(() -> take(entry, evidence, raw, wanted));
    } finally {
      summaries.writeIfDue();
    }
  }

  private Answer take(
      Admissions.Entry before, List<Envelope> brought, Optional<byte[]> raw, Wanted wanted) {
    Request request = before.request();
    RunId runId = new RunId(request.scope().tenant(), request.scope().run());
    try (Ledger.Pin _ = ledger.pin(inputs(request)); // protects blobs until documents name them
        KeyedLocks.Held _ = turn(() -> lockRequest(before.id()));
        KeyedLocks.Held _ = turn(() -> lockKey(request, before.id()));
        Runs.Borrowed run = runs.borrow(runId)) {
      ledger.pendingHead(runId); // refuses before judging if the ledger has stopped
      Optional<RequestRow> row = row(before.id()); // only who has its lock changes it
      Admissions.Entry entry = readmitIfChanged(before, row);
      awaited.settle(entry.id(), run);
      awaited.settleSameKey(request, entry.id());
      Optional<Answer> answered = answered(entry, row, wanted.execute());
      if (answered.isPresent()) {
        return answered.get();
      }
      cell.requireHere(runId.tenant());
      Optional<Answer> former = row.isPresent() ? Optional.empty() : former(entry, wanted);
      if (former.isPresent()) {
        return former.get();
      }
      entry.require();
      boolean workspace = wanted.dispatch() && isAlone(request.effect());
      try (KeptEnvelopes.Kept evidence = kept.keep(entry, brought);
          KeyedLocks.Held _ = workspace ? turn(() -> lockWorkspace(request)) : KeyedLocks.NONE) {
        Admissions.Entry current = readmitIfChanged(entry, row);
        // Again, now that it is known under which state it is judged: a move may have been stated
        // while the workspace was waited for.
        cell.requireHere(runId.tenant());
        return judgeAndExecute(
            current, row, evidence.documents(), raw, run, wanted.holding(workspace));
      }
    }
  }

  /** The outcome that a former cell of the tenant has: as there, its holder alone gets it. */
  private Optional<Answer> former(Admissions.Entry entry, Wanted wanted) {
    return moves
        .former(entry.request().scope().tenant())
        .outcome(entry, wanted.execute())
        .map(found -> {
          Answer known = found.answer();
          if (known.request().equals(entry.id())) {
            requireHolder(known, entry, found.isStored());
          }
          return known
              .served()
              .map(served -> known.withServed(asMayBeRead(served, known, entry)))
              .orElse(known);
        });
  }

  /**
   * Whether it is the only effect of its run while it is at work: it uses the run's workspace, or
   * its receipt is chained in another process.
   */
  private boolean isAlone(Effect effect) {
    return awaited.isApart() || tools.usesWorkspace(effect);
  }

  private static List<Digest> inputs(Request request) {
    return request.effect().inputs().stream().map(Input::digest).toList();
  }

  /** Judges and executes a request that has no outcome yet. */
  private Answer judgeAndExecute(
      Admissions.Entry entry,
      Optional<RequestRow> row,
      List<Envelope> evidence,
      Optional<byte[]> raw,
      Runs.Borrowed run,
      Wanted wanted) {
    Trust trust = entry.state().trust();
    Policy policy = entry.state().policyInForce();
    Admitted admitted = entry.require();
    ownKeys.require(trust, time.latest());
    if (row.filter(r -> judging.live(r, trust, policy)).isPresent()) {
      Answer known = known(admitted.id(), row.get());
      return wanted.execute() && known.intent().isPresent()
          ? serve(known, admitted, PendingWrites.nothing(), run, wanted, entry.state())
          : known;
    }
    if (row.isEmpty()) {
      if (ledger.pendingHead(run.id()).isEmpty()) {
        moves.former(run.id().tenant()).requireNewRun(run.id());
      }
      judging.requireOwnRun(admitted, run, policy);
    }
    Judging.Judged judged =
        StageObserver.during(
            stages,
            Stage.JUDGEMENT,
            () -> judging.judge(admitted, row, List.of(), evidence, raw, run, trust, policy));
    if (!wanted.execute() || judged.answer().intent().isEmpty()) {
      StageObserver.during(
          stages, Stage.DECISION, () -> judging.commit(judged, run, inForce.under(entry.state())));
      return judged.answer();
    }
    try {
      return serve(judged.answer(), admitted, judged.pendingWrites(), run, wanted, entry.state());
    } finally {
      judging.releaseIfNotEnqueued(judged);
    }
  }

  private Answer serve(
      Answer answer,
      Admitted admitted,
      PendingWrites pendingWrites,
      Runs.Borrowed run,
      Wanted wanted,
      SystemState state) {
    Served served =
        executor.serve(
            new IntentSubmission(
                Optional.of(answer.decisionEnvelope()),
                answer.intent(),
                Optional.of(admitted.request()),
                admitted.holder(),
                pendingWrites,
                run,
                wanted.holdsWorkspace(),
                inForce.under(state),
                wanted.givenUp()),
            state.trust(),
            state.policyInForce());
    return answer.withServed(served);
  }

  private Admissions.Entry admission(Supplier<Admissions.Entry> work) {
    return StageObserver.during(stages, Stage.ADMISSION, work);
  }

  /** Admits the request again if keys, policy or its row changed while it waited for locks. */
  private Admissions.Entry readmitIfChanged(Admissions.Entry before, Optional<RequestRow> row) {
    return admissions.isCurrent(before, row)
        ? before
        : admission(() -> admissions.enter(before.envelope()));
  }

  private KeyedLocks.Held turn(Supplier<KeyedLocks.Held> lock) {
    return StageObserver.during(stages, Stage.TURN, lock);
  }

  /**
   * The stored outcome of the request, or of another one under its idempotency key: served, refused
   * or pending. It is returned unchanged, whatever policy is in force now.
   *
   * @throws WritException {@code EXE-106} for a key that is not the request's holder, {@code
   *     EXE-109} where it was dispatched and has no receipt, {@code EXE-110}
   */
  private Optional<Answer> answered(
      Admissions.Entry entry, Optional<RequestRow> row, boolean execute) {
    Optional<Served> served = Optional.empty();
    if (row.isPresent()) { // its row is written before the dispatch, or with it
      served = idempotency.served(entry.id());
      if (served.isEmpty()) {
        idempotency.requireNotRunning(entry.id());
      }
    }
    if (served.isEmpty() && execute) {
      served = idempotency.sameKey(entry.request(), entry.id(), entry.request().effect()::digest);
    }
    if (served.isPresent()) {
      Digest request = served.get().receipt().request();
      Answer known = known(request, row(request).orElseThrow());
      if (request.equals(entry.id())) {
        requireHolder(known, entry, entry.stored());
      }
      return Optional.of(known.withServed(asMayBeRead(served.get(), known, entry)));
    }
    boolean stands =
        row.filter(r ->
                switch (r.state()) {
                  case DENIED, PENDING -> true;
                  case ALLOWED -> !execute && entry.refused().isPresent();
                  case LAPSED -> false;
                })
            .isPresent();
    if (!stands) {
      return Optional.empty();
    }
    Answer known = known(entry.id(), row.get());
    requireHolder(known, entry, entry.stored());
    return Optional.of(known);
  }

  /** Only the holder gets the output, and only while the holder's key is in force. */
  private static Served asMayBeRead(Served served, Answer known, Admissions.Entry entry) {
    boolean revoked =
        entry
            .state()
            .trust()
            .key(known.decision().holder())
            .filter(key -> key.revokedAt().isEmpty())
            .isEmpty();
    return revoked && entry.refused().isPresent() ? served.withoutOutput() : served;
  }

  private static void requireHolder(Answer known, Admissions.Entry entry, boolean isStored) {
    boolean holds =
        isStored
            || entry
                .admitted()
                .filter(a -> a.holder().kid().equals(known.decision().holder()))
                .isPresent();
    if (!holds) {
      throw new WritException(ExecutorError.HOLDER, "of request " + known.request());
    }
  }

  /** Executes an intent: the second of two steps. */
  Served execute(Envelope decision, Envelope intent, Envelope order) {
    inForce
        .now()
        .trust()
        .verify(order, ExecutionOrder.TYPE, time.passing(KernelTime.Reading.ORDER));
    Intent read = Intent.read(intent.document());
    ExecutionOrder.read(order.document())
        .requireFor(intent.id(), read, time.passing(KernelTime.Reading.ORDER));
    Optional<Request> request =
        ledger.hasDocument(read.request())
            ? Optional.of(idempotency.request(read.request()))
            : Optional.empty();
    if (request.isEmpty()) {
      throw new WritException(ExecutorError.NOT_ISSUED, intent.id().toString());
    }
    try (TenantWork.UnderWay _ = cell.begin(read.scope().tenant())) {
      return cell.whileCurrent(() -> execute(decision, intent, order, read, request.get()));
    }
  }

  private Served execute(
      Envelope decision, Envelope intent, Envelope order, Intent read, Request request) {
    RunId runId = new RunId(read.scope().tenant(), read.scope().run());
    try (KeyedLocks.Held _ = lockRequest(read.request());
        KeyedLocks.Held _ = lockKey(request, read.request());
        Runs.Borrowed run = awaited.settled(runId, read.request());
        KeyedLocks.Held workspace = lockUnlessServed(request, read.request())) {
      SystemState now = inForce.now(); // it may have changed while the locks were waited for
      if (idempotency.served(read.request()).isEmpty()) {
        cell.requireHere(runId.tenant()); // behind it: what is written is written under that state
      }
      TrustedKey submitter =
          now.trust()
              .verify(order, ExecutionOrder.TYPE, time.now(KernelTime.Reading.ORDER))
              .getFirst();
      ownKeys.require(now.trust(), time.latest());
      return executor.serve(
          new IntentSubmission(
              Optional.of(decision),
              Optional.of(intent),
              Optional.of(request),
              submitter,
              PendingWrites.nothing(),
              run,
              workspace != KeyedLocks.NONE,
              inForce.under(now),
              Optional.empty()),
          now.trust(),
          now.policyInForce());
    }
  }

  /** Applies an approval or a rejection, and judges the pending request again. */
  Answer approve(Envelope approvalEnvelope) {
    Instant now = time.passing(KernelTime.Reading.APPROVAL);
    List<TrustedKey> signers = inForce.now().trust().verify(approvalEnvelope, Approval.TYPE, now);
    Approval approval = Approval.read(approvalEnvelope.document());
    boolean ofTenant =
        signers.stream().allMatch(s -> s.tenant().filter(approval.tenant()::equals).isPresent());
    try (TenantWork.UnderWay _ = cell.begin(approval.tenant());
        KeyedLocks.Held _ = lockRequest(approval.request())) {
      cell.requireHere(approval.tenant());
      RequestRow row =
          row(approval.request())
              .filter(r -> ofTenant && r.run().tenant().equals(approval.tenant()))
              .orElseThrow(
                  () -> new WritException(ExecutorError.UNKNOWN_ID, approval.request().toString()));
      if (row.state() != RequestRow.State.PENDING) {
        throw new WritException(ExecutorError.NOT_PENDING, "request " + approval.request());
      }
      time.keep(now);
      try (KeyedLocks.Held _ = kept.own(approvalEnvelope);
          Runs.Borrowed run = runs.borrow(row.run())) {
        SystemState state = inForce.now();
        cell.requireHere(approval.tenant()); // again: a move may have been stated meanwhile
        ownKeys.require(state.trust(), time.latest());
        Optional<Judging.Judged> judged =
            judging.approve(
                approvalEnvelope, row, run, state.trust(), state.policyInForce(), now, true);
        judged.ifPresent(j -> judging.commit(j, run, inForce.under(state)));
        return judged.map(Judging.Judged::answer).orElseGet(() -> known(approval.request(), row));
      }
    }
  }

  /** Admits the bytes of a request, and nothing else. */
  Admissions.Entry admitted(byte[] request) {
    return admission(() -> admissions.enter(parsed(request)));
  }

  /** The outcome so far of a request that was judged. */
  private Answer known(Digest request, RequestRow row) {
    return judging.known(request, row);
  }

  /** What is kept of a request; empty where it was never judged. */
  Optional<RequestRow> row(Digest request) {
    return ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }

  private KeyedLocks.Held lockRequest(Digest request) {
    return locks.lock(Tables.key("request", request.hex()));
  }

  private KeyedLocks.Held lockWorkspace(Request request) {
    return wipes.lock(request.scope().tenant(), request.scope().run());
  }

  /** A stored outcome is returned without waiting for the workspace. */
  private KeyedLocks.Held lockUnlessServed(Request request, Digest id) {
    return idempotency.served(id).isEmpty() && isAlone(request.effect())
        ? lockWorkspace(request)
        : KeyedLocks.NONE;
  }

  private KeyedLocks.Held lockKey(Request request, Digest id) {
    return locks.lock(Tables.key("idempotency", ReceiptStage.idempotencyKey(request, id)));
  }
}
