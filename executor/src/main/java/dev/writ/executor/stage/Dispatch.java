package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallContext;
import dev.writ.executor.driver.CallTrace;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.executor.stage.Prepare.Ready;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.ledger.Commit;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;

/**
 * Stage 4: the effect. The dispatch of an impure tool is durable before the tool runs, so that
 * after a crash it is in doubt and never runs twice (protocol rules 13 and 14). Any failure of the
 * tool or its driver is returned as data.
 */
public final class Dispatch {
  private final KernelTime time;
  private final Gate gate;
  private final Invocation.InputContent inputs;
  private final WorkspaceUse workspaces;
  private final Runnable requireLease;
  private final Runnable requireSigner;

  /**
   * An effect that has run.
   *
   * @param workspace the run's workspace after the effect
   * @param pendingWrites writes that are committed with the receipt: all of them for a pure effect
   * @param dispatched whether {@code effect.dispatched} is committed
   */
  public record Ran(
      Ready ready,
      Instant startedAt,
      Instant finishedAt,
      DriverOutcome outcome,
      Optional<String> driverFailure,
      WorkspaceUse.After workspace,
      PendingWrites pendingWrites,
      boolean dispatched) {

    /** Whether nobody knows how it ended. */
    public boolean inDoubt() {
      return outcome.end() == DriverOutcome.End.IN_DOUBT;
    }
  }

  /**
   * @param requireLease refuses where the kernel's lease of the log is over
   * @param requireSigner refuses while it is known that a receipt would not be signed
   */
  public Dispatch(
      KernelTime time,
      Gate gate,
      Invocation.InputContent inputs,
      WorkspaceUse workspaces,
      Runnable requireLease,
      Runnable requireSigner) {
    this.time = time;
    this.gate = gate;
    this.inputs = inputs;
    this.workspaces = workspaces;
    this.requireLease = requireLease;
    this.requireSigner = requireSigner;
  }

  /** The clock reading of {@code effect.dispatched}. */
  public Instant reading() {
    return time.now(KernelTime.Reading.DISPATCH);
  }

  /**
   * Checks the expiry again, against that reading.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-107} where the intent expired on the way
   *     here
   */
  public void requireInTime(Order order, Instant at) {
    gate.requireUnexpired(order.intent(), at);
  }

  /**
   * An effect that is about to run.
   *
   * @param committed whether {@code effect.dispatched} is on disk; a pure effect's is written with
   *     its receipt
   */
  public record Dispatched(Ready ready, Instant startedAt, boolean committed) {}

  /**
   * Requires that the receipt of an effect will be signed, as far as that is known: one that is not
   * done again would be done, and wait for its receipt. A pure one is done again.
   *
   * @throws dev.writ.canonicalize.WritException what the executor's key refused with
   */
  public void requireSigner(Ready ready) {
    if (ready.determinism() != Determinism.PURE) {
      requireSigner.run();
    }
  }

  /**
   * Makes the dispatch of an impure effect durable.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-076}, as {@link #requireSigner}, and as
   *     the ledger's; nothing was dispatched then, unless the ledger leaves it open
   */
  public Dispatched dispatch(Ready ready, Instant startedAt) {
    requireSigner(ready);
    requireLease.run();
    boolean pure = ready.determinism() == Determinism.PURE;
    if (!pure) {
      commit(ready.order(), startedAt, ready.workspaceBefore());
    }
    return new Dispatched(ready, startedAt, !pure);
  }

  /**
   * Runs the effect; whatever the tool does is returned.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-076} where the lease ended while the
   *     dispatch was made durable: the effect is not run, and the next owner finds it in doubt
   */
  public Ran run(Dispatched dispatched) {
    if (dispatched.committed()) {
      requireLease.run();
    }
    Ready ready = dispatched.ready();
    Order order = ready.order();
    Instant startedAt = dispatched.startedAt();
    Optional<String> driverFailure = Optional.empty();
    DriverOutcome outcome;
    try {
      outcome = Objects.requireNonNull(ready.operation().run(invocation(ready, startedAt)));
      if (outcome.end() == DriverOutcome.End.IN_DOUBT && !dispatched.committed()) {
        throw new DriverFailed("a pure effect in doubt");
      }
    } catch (Throwable e) { // a driver's bug, stack overflow, full heap: all end in a receipt
      OutOfMemory.report(e);
      driverFailure = Optional.of(DriverFailed.nameOf(e));
      outcome =
          DriverOutcome.failed(
              DriverOutcome.End.FAILED,
              "driver-failed",
              driverFailure.get(),
              new DriverOutcome.Metrics(order.request().effect().resources().cpuMs(), 0, 0, 0));
    }
    return new Ran(
        ready,
        startedAt,
        time.nowOrLatest(KernelTime.Reading.END),
        outcome,
        driverFailure,
        workspace(ready),
        dispatched.committed() ? PendingWrites.nothing() : order.submission().pendingWrites(),
        dispatched.committed());
  }

  /** The workspace of the run, for an effect that uses it. */
  public WorkspaceUse.After workspace(Ready ready) {
    return ready.workspaceBefore().isPresent()
        ? workspaces.after(ready.order().request().scope())
        : WorkspaceUse.After.NONE;
  }

  /**
   * Writes the dispatch of an impure effect, durably.
   *
   * @param workspaceBefore the tree digest of the run's workspace, for an effect that uses it
   */
  public void commit(Order order, Instant at, Optional<Digest> workspaceBefore) {
    Commit commit;
    try (RunTurn turn = order.submission().run().turn().before(order.submission().changes())) {
      order.submission().pendingWrites().writeTo(turn);
      long seq = writeEvent(turn, order, at);
      turn.unfinished(0, 1, 0);
      turn.batch()
          .put(
              Tables.DISPATCHED,
              Tables.key(order.decision().request()),
              new DispatchedRow(order.submission().run().id(), seq, order.intentEnvelope().id())
                  .toBytes())
          .put(
              Tables.IDEMPOTENCY,
              ReceiptStage.idempotencyKey(order.request(), order.decision().request()),
              order.decision().request().bytes());
      workspaceBefore.ifPresent(tree ->
          WorkspaceUse.dispatched(turn, order.request().scope(), order.decision().request(), tree));
      commit = turn.enqueue();
    }
    commit.await();
  }

  /** The event of a dispatch; a pure effect's is written with its receipt. */
  static long writeEvent(RunTurn turn, Order order, Instant at) {
    Digest intent = order.intentEnvelope().id();
    return turn.event(
        EventKind.EFFECT_DISPATCHED, intent, at, Optional.of(order.intent().prngSeed()));
  }

  private Invocation invocation(Ready ready, Instant at) {
    Order order = ready.order();
    Effect effect = order.request().effect();
    return new Invocation(
        order.request().scope(),
        effect.params(),
        effect.inputs(),
        inputs,
        HexFormat.of().parseHex(order.intent().prngSeed()),
        at,
        effect.resources(),
        effect.sandbox(),
        ready.workspaceBefore(),
        approved(order.decision()),
        ready.host(),
        new CallContext(
            SandboxObserver.NONE,
            CallTrace.of(order.decision().request(), order.request().context()),
            Optional.of(order.intentEnvelope().id())));
  }

  /**
   * The Gate has verified the decision, so only its list of approvals is read, and more only if
   * there are any.
   */
  static boolean approved(Decision decision) {
    return decision.inputs().get("approvals") instanceof JsonValue.Arr seen
        && !seen.items().isEmpty()
        && JudgeInputs.read(decision.inputs()).approved();
  }
}
