package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.apart.ApartOrder;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.apart.ChainEnd;
import dev.writ.executor.apart.OrderEnded;
import dev.writ.executor.apart.OrderPrepared;
import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.executor.apart.RunKnown;
import dev.writ.executor.apart.SystemHead;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.Preflight;
import dev.writ.executor.stage.Prepare.Ready;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Result;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.Admission;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Commit;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import java.io.ByteArrayInputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An executor in a process of its own (spec/apart.md). It believes signatures and its own log: the
 * keys, the policy and the tools that are in force follow from its copy of the guardian's system
 * run, each document of which it verifies; and whether an effect was begun, from what it wrote
 * before it began it. Thread safe.
 */
public final class ApartExecutor implements RemoteExecutor {
  private static final int CONTENT_BYTES_MAX = 1 << 30;

  /** How long an order may be on its way before its effect is not begun any more. */
  private static final Duration DISPATCH_AGE_MAX = Duration.ofSeconds(30);

  private final Kernel kernel;
  private final Ledger ledger;
  private final KernelTime time;
  private final StateGate inForce;
  private final SafeExecutor stages;
  private final Runs runs;
  private final KeyedLocks locks;
  private final KernelSigningKeys ownKeys;
  private final RunClosings closings;
  private final AwaitedReceipts awaited;
  private final GuardianLog guarded;
  private final SignedStatements statements;
  private final SystemCopy copy;

  ApartExecutor(
      Kernel kernel,
      Ledger ledger,
      KernelTime time,
      StateGate inForce,
      SafeExecutor stages,
      Runs runs,
      KeyedLocks locks,
      KernelSigningKeys ownKeys,
      RunClosings closings,
      AwaitedReceipts awaited,
      SigningKey key,
      GuardianLog guarded) {
    this.kernel = kernel;
    this.ledger = ledger;
    this.time = time;
    this.inForce = inForce;
    this.stages = stages;
    this.runs = runs;
    this.locks = locks;
    this.ownKeys = ownKeys;
    this.closings = closings;
    this.awaited = awaited;
    this.guarded = guarded;
    this.statements = new SignedStatements(ledger, key);
    this.copy = new SystemCopy(ledger, inForce, runs, time);
  }

  /**
   * Begins the executor's ledger with a copy of the guardian's system run.
   *
   * @param system all events of it so far, from the first
   * @param kid the executor's key, which has to be enrolled there
   * @throws WritException {@code EXE-933}, {@code EXE-912}, {@code EXE-911}, and the code of a
   *     document that is not valid
   */
  public static void found(
      Ledger empty, CarriedEvents system, String kid, InstantSource clock, SecureRandom random) {
    SteadyTime time =
        new SteadyTime(clock, () -> 0, () -> SystemState.NOTHING.clockLimits(), empty.highWater());
    StateGate inForce = new StateGate(SystemState.read(empty));
    new SystemCopy(empty, inForce, new Runs(empty, random), time).add(system, _ -> {});
    inForce.now().policyInForce();
    KernelSigningKeys.require(inForce.now().trust(), KeyRole.EXECUTOR, kid, time.latest());
  }

  /** What a guardian gives to found an executor, or anybody to look at. */
  public static CarriedEvents systemRun(LedgerView ledger) {
    List<Event> events = new ArrayList<>();
    List<Envelope> documents = new ArrayList<>();
    ledger.events(
        SystemState.RUN,
        0,
        event -> {
          events.add(event);
          ledger.document(event.body()).ifPresent(documents::add);
        });
    return new CarriedEvents(0, events.size(), events, documents);
  }

  /** The kernel of its own log: for reading, checkpoints, and what the operator does there. */
  public Kernel kernel() {
    return kernel;
  }

  @Override
  public SystemHead system() {
    Event last = ledger.head(SystemState.RUN).orElseThrow();
    return new SystemHead(last.seq() + 1, last.id());
  }

  @Override
  public void carrySystem(CarriedEvents events) {
    copy.add(events, guarded::changed);
    kernel.tellChanged();
  }

  /** The state in force, which has to be at least as far as what the order was decided under. */
  private SystemState requireSystem(SystemHead asked) {
    SystemState state = inForce.now();
    Optional<Event> last =
        asked.events() == 0 ? Optional.empty() : ledger.event(SystemState.RUN, asked.events() - 1);
    if (last.isEmpty()) {
      throw new WritException(
          ExecutorError.SYSTEM_BEHIND, system().events() + " events, asked for " + asked.events());
    }
    if (!last.get().id().equals(asked.head())) {
      throw new WritException(
          ExecutorError.SYSTEM_DIFFERS,
          "event " + last.get().seq() + " is " + last.get().id() + ", not " + asked.head());
    }
    return state;
  }

  @Override
  public RunKnown run(RunId id) {
    try (Runs.Borrowed run = runs.borrow(id)) {
      return known(run);
    }
  }

  private RunKnown known(Runs.Borrowed run) {
    try (RunTurn turn = run.turn()) {
      return new RunKnown(carried(run.id()), turn.state().map(ReceiptStage::chain));
    }
  }

  private long carried(RunId id) {
    return GuardianRunCopy.count(ledger, id);
  }

  @Override
  public void carry(RunId id, CarriedEvents events) {
    SystemState state = inForce.now();
    try (Runs.Borrowed run = runs.borrow(id)) {
      Commit commit;
      try (RunTurn turn = run.turn().before(inForce.under(state))) {
        new GuardianRunCopy(ledger, state.trust(), events).writeTo(turn, id);
        commit = turn.enqueue();
      }
      commit.await();
    }
  }

  @Override
  public void content(String tenant, Digest digest, byte[] bytes, String mediaType) {
    Digest given = Digest.sha256(bytes);
    if (!given.equals(digest)) {
      throw new WritException(ExecutorError.STORE_INTEGRITY, "given " + given + " for " + digest);
    }
    kernel.contents().put(tenant, new ByteArrayInputStream(bytes), mediaType);
  }

  @Override
  public OrderPrepared prepare(ApartOrder asked) {
    SystemState state = requireSystem(asked.system());
    Decision decision = Decision.read(asked.decision().document());
    RunId id = new RunId(decision.scope().tenant(), decision.scope().run());
    try (Runs.Borrowed run = runs.borrow(id)) {
      Preflight.Order order = check(asked, state, run, PendingWrites.nothing(), true);
      List<Digest> missing = missing(order.request());
      if (missing.isEmpty()) {
        stages
            .dispatch()
            .requireSigner(ready(order, state, asked.at(), _ -> Optional.empty()).durable());
      }
      return new OrderPrepared(known(run), missing);
    }
  }

  private List<Digest> missing(Request request) {
    return request.effect().inputs().stream()
        .map(Input::digest)
        .filter(digest ->
            !ledger.hasBlob(digest)
                || !TenantContents.has(ledger, request.scope().tenant(), digest))
        .toList();
  }

  /**
   * Stages 0 and 1 but for the expiry: from here on all parties have signed what they have to.
   *
   * @param begins whether it may begin now, for which the agent's key has to be in force, and the
   *     intent of this incarnation; what only has to end was admitted by the guardian then
   */
  private Preflight.Order check(
      ApartOrder asked,
      SystemState state,
      Runs.Borrowed run,
      PendingWrites carried,
      boolean begins) {
    Trust trust = state.trust();
    Policy policy = state.policyInForce();
    Instant now = time.now(KernelTime.Reading.GATE);
    Decision decision = Decision.read(asked.decision().document());
    TrustedKey holder =
        begins
            ? Admission.readmit(
                    asked.request(),
                    trust,
                    policy,
                    JudgeInputs.read(decision.inputs()).receivedAt(),
                    now)
                .holder()
            : trust
                .key(decision.holder())
                .orElseThrow(
                    () -> new WritException(ExecutorError.HOLDER, "key " + decision.holder()));
    Preflight.Order order =
        stages
            .preflight()
            .check(
                new IntentSubmission(
                    Optional.of(asked.decision()),
                    Optional.of(asked.intent()),
                    Optional.of(Request.read(asked.request().document())),
                    holder,
                    carried,
                    run,
                    true,
                    inForce.under(state),
                    Optional.empty()));
    Gate gate = begins ? stages.gate() : new Gate(order.intent().audience());
    gate.pass(order, trust, policy, now);
    if (!order.decision().request().equals(asked.request().id())) {
      throw new WritException(
          ExecutorError.BINDING,
          "the decision is on " + order.decision().request() + ", not " + asked.request().id());
    }
    return order;
  }

  /**
   * The expiry, and stages 2 and 3.
   *
   * @param brought the documents that came with the order, approvals among them
   */
  private Ready ready(
      Preflight.Order order, SystemState state, Instant at, DocumentSource brought) {
    Instant now = time.now(KernelTime.Reading.DISPATCH);
    ownKeys.requireExecutor(state.trust(), now);
    requireNear(at, now);
    order.submission().run().requireNotClosed();
    requireNotGivenUp(order);
    stages.gate().requireUnexpired(order.intent(), now);
    stages.gate().requireUnexpired(order.intent(), at);
    stages.gate().requireStanding(order, state.trust(), brought);
    Policy policy = state.policyInForce();
    stages.snapshot().verify(order, stages.tools().circumstances(order.request().effect(), policy));
    return stages.prepare().prepare(order, policy);
  }

  /** The receipt has the guardian's time for the beginning and this clock's for the end. */
  private static void requireNear(Instant at, Instant now) {
    if (at.isAfter(now.plus(Admission.SKEW)) || at.isBefore(now.minus(DISPATCH_AGE_MAX))) {
      throw new WritException(
          ExecutorError.ORDER_TIME, "the guardian's time is " + at + ", the executor's " + now);
    }
  }

  private void requireNotGivenUp(Preflight.Order order) {
    if (ledger.get(Tables.GIVEN_UP, Tables.key(order.intentEnvelope().id())).isPresent()) {
      throw new WritException(
          ExecutorError.SUPERSEDED,
          "intent " + order.intentEnvelope().id() + " was refused before");
    }
  }

  @Override
  public OrderEnded end(ApartOrder asked) {
    return CellGate.unlessMoved(() -> endOnce(asked));
  }

  private OrderEnded endOnce(ApartOrder asked) {
    ApartOrder.Dispatching dispatch =
        asked
            .dispatch()
            .orElseThrow(() -> new WritException(ExecutorError.MALFORMED, "no dispatch"));
    Intent intent = Intent.read(asked.intent().document());
    Request request = Request.read(asked.request().document());
    RunId id = new RunId(intent.scope().tenant(), intent.scope().run());
    try (KeyedLocks.Held _ = locks.lock(Tables.key("request", intent.request().hex()));
        KeyedLocks.Held _ =
            locks.lock(
                Tables.key("idempotency", ReceiptStage.idempotencyKey(request, intent.request())));
        Runs.Borrowed run = runs.borrow(id);
        KeyedLocks.Held _ = locks.lock(Tables.key("workspace", id.tenant(), id.run()))) {
      awaited.settle(intent.request(), run);
      Optional<Served> before = stages.idempotency().served(intent.request());
      if (before.isPresent()) {
        requireOf(before.get().receipt(), asked);
        return ended(before.get());
      }
      stages.idempotency().requireNotRunning(intent.request());
      SystemState state = requireSystem(asked.system());
      GuardianRunCopy carried = new GuardianRunCopy(ledger, state.trust(), dispatch.carried());
      Preflight.Order order =
          check(asked, state, run, turn -> carried.writeTo(turn, id), dispatch.begins());
      requireChain(run, dispatch);
      TreeMap<Digest, Envelope> brought = dispatch.carried().byId();
      return ended(
          serve(
              order,
              state,
              asked.at(),
              dispatch.begins(),
              document -> Optional.ofNullable(brought.get(document))));
    }
  }

  /** One request, one dispatch: also where a guardian has issued two intents for it. */
  private static void requireOf(Receipt receipt, ApartOrder asked) {
    if (!receipt.intent().equals(asked.intent().id())) {
      throw new WritException(
          ExecutorError.SUPERSEDED,
          "request " + receipt.request() + " was served by intent " + receipt.intent());
    }
  }

  private static void requireChain(Runs.Borrowed run, ApartOrder.Dispatching dispatch) {
    Optional<ChainEnd> own;
    try (RunTurn turn = run.turn()) {
      own = turn.state().map(ReceiptStage::chain);
    }
    ChainEnd here = own.orElseGet(() -> opening(dispatch.carried()));
    if (!here.equals(dispatch.end())) {
      throw new WritException(
          ExecutorError.FORKED,
          run.id()
              + ": the executor's last receipt is "
              + here.prev()
              + " with lamport "
              + here.lamport()
              + ", the guardian's "
              + dispatch.end().prev()
              + " with "
              + dispatch.end().lamport());
    }
  }

  private static ChainEnd opening(CarriedEvents carried) {
    return carried.events().stream()
        .findFirst()
        .filter(event -> event.kind().equals(EventKind.RUN_OPENED) && event.seq() == 0)
        .map(event -> new ChainEnd(event.id(), 0))
        .orElseThrow(() -> new WritException(ExecutorError.FORKED, "the run is not known here"));
  }

  /** From here on it ends in a receipt, since the guardian's log has the dispatch. */
  private Served serve(
      Preflight.Order order,
      SystemState state,
      Instant at,
      boolean begins,
      DocumentSource brought) {
    Dispatch.Dispatched dispatched;
    try {
      if (!begins) {
        throw new WritException(ExecutorError.NEVER_BEGUN, "the guardian asked for its end");
      }
      Ready ready = ready(order, state, at, brought);
      dispatched = stages.dispatch().dispatch(ready.durable(), at);
    } catch (WritException refused) {
      return neverBegun(order, state, at, refused);
    }
    return stages.finish(dispatched);
  }

  private Served neverBegun(
      Preflight.Order order, SystemState state, Instant at, WritException refused) {
    if (refused.code().code().startsWith("LED-") || refused.code() == ExecutorError.STATE_MOVED) {
      throw refused; // nothing can be written now, or the dispatch may be
    }
    Policy policy = state.policyInForce();
    Optional<Digest> workspace = workspaceOf(order);
    Ready never =
        new Ready(
            order,
            stages.tools().circumstances(order.request().effect(), policy).manifest(),
            _ -> {
              throw refused;
            },
            Determinism.RECORDED,
            workspace,
            policy.host());
    Instant ended = time.nowOrLatest(KernelTime.Reading.END);
    Dispatch.Ran ran =
        new Dispatch.Ran(
            never,
            at,
            ended.isBefore(at) ? at : ended,
            DriverOutcome.failed(
                DriverOutcome.End.FAILED,
                "never-begun",
                refused.code().code(),
                DriverOutcome.Metrics.NONE),
            Optional.empty(),
            new WorkspaceUse.After(workspace, Optional.empty()),
            order.submission().pendingWrites(),
            false);
    StoreStage.Stored stored =
        stages.store().store(ran, Result.of(ran).refuse(refused.code(), refused.found()), false);
    return stages.receipt().sign(ran, stored);
  }

  /** It was not used, so it is as it was. */
  private Optional<Digest> workspaceOf(Preflight.Order order) {
    return stages.tools().usesWorkspace(order.request().effect())
        ? Optional.of(treeDigest(order.request().scope().tenant(), order.request().scope().run()))
        : Optional.empty();
  }

  private OrderEnded ended(Served served) {
    TreeMap<Digest, byte[]> contents = new TreeMap<>();
    Receipt receipt = served.receipt();
    List<Digest> named = new ArrayList<>();
    receipt.output().map(Content::digest).ifPresent(named::add);
    receipt.rawOutput().map(Content::digest).ifPresent(named::add);
    receipt.artifacts().forEach(artifact -> named.add(artifact.content().digest()));
    receipt.observations().ifPresent(named::add);
    named.stream()
        .filter(ledger::hasBlob)
        .forEach(digest -> contents.put(digest, ledger.blob(digest, CONTENT_BYTES_MAX)));
    receipt
        .output()
        .ifPresent(output ->
            served.output().ifPresent(bytes -> contents.putIfAbsent(output.digest(), bytes)));
    receipt
        .rawOutput()
        .ifPresent(raw ->
            served.rawOutput().ifPresent(bytes -> contents.putIfAbsent(raw.digest(), bytes)));
    return new OrderEnded(served.envelope(), contents);
  }

  @Override
  public Digest treeDigest(String tenant, String run) {
    return kernel.treeDigest(tenant, run);
  }

  @Override
  public void close(Envelope runClose) {
    RunClose close = RunClose.read(runClose.document());
    RunId id = new RunId(close.tenant(), close.run());
    boolean closed;
    try (Runs.Borrowed run = runs.borrow(id);
        RunTurn turn = run.turn()) {
      closed = turn.state().filter(RunState::closed).isPresent();
    }
    if (!closed) {
      SystemState state = inForce.now();
      closings.close(
          runClose, state.trust(), state.policyInForce(), inForce.under(state), _ -> {}, false);
    }
    kernel.sealed(id);
  }

  @Override
  public byte[] sign(byte[] preAuth) {
    return statements.sign(preAuth);
  }

  /** A checkpoint of its own log. */
  public Checkpoint checkpoint() {
    return kernel.checkpoint();
  }
}
