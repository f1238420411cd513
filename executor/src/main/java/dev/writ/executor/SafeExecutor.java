package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.stage.CanonicalizeStage;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.Dispatch.Ran;
import dev.writ.executor.stage.Drift;
import dev.writ.executor.stage.Elsewhere;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.Preflight;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.executor.stage.Prepare;
import dev.writ.executor.stage.Prepare.Ready;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Refusals;
import dev.writ.executor.stage.Result;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.SnapshotStage;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.StoreStage.Stored;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.Optional;

/**
 * Serves an intent in eight stages, each of which fails closed. Stages 1 to 3 refuse with an
 * exception and dispatch nothing; from stage 4 on a refusal is an outcome, and every outcome ends
 * in a signed receipt. The caller holds the locks of request and idempotency key, and that of the
 * run's workspace where the tool uses it.
 *
 * @param refusals records refusals of stages 1 to 3
 * @param stages observes the stages
 * @param elsewhere runs the tools, where that is another process
 */
public record SafeExecutor(
    KernelTime time,
    Preflight preflight,
    Gate gate,
    Idempotency idempotency,
    SnapshotStage snapshot,
    Tools tools,
    Prepare prepare,
    Dispatch dispatch,
    Drift drift,
    CanonicalizeStage canonicalize,
    StoreStage store,
    ReceiptStage receipt,
    Refusals refusals,
    StageObserver stages,
    Optional<Elsewhere> elsewhere) {

  /** The same with another gate. */
  SafeExecutor with(Gate other) {
    return new SafeExecutor(
        time,
        preflight,
        other,
        idempotency,
        snapshot,
        tools,
        prepare,
        dispatch,
        drift,
        canonicalize,
        store,
        receipt,
        refusals,
        stages,
        elsewhere);
  }

  /** The same, whose tools run in another process. */
  SafeExecutor with(Elsewhere other) {
    return new SafeExecutor(
        time,
        preflight,
        gate,
        idempotency,
        snapshot,
        tools,
        prepare,
        dispatch,
        drift,
        canonicalize,
        store,
        receipt,
        refusals,
        stages,
        Optional.of(other));
  }

  /**
   * @throws WritException {@code EXE-0xx} to {@code EXE-3xx}: nothing was dispatched; {@code
   *     EXE-801} or {@code LED-0xx}: it was, and is in doubt until the next start
   */
  public Served serve(IntentSubmission submission, Trust trust, Policy policy) {
    return switch (begin(submission, trust, policy)) {
      case Begun.Before before -> before.served();
      case Begun.Now now -> finish(now.dispatched());
    };
  }

  /** What stages 0 to 3 led to. */
  public sealed interface Begun {
    /** It was served before. */
    record Before(Served served) implements Begun {}

    /** The effect is dispatched; if it is impure, durably. */
    record Now(Dispatch.Dispatched dispatched) implements Begun {}
  }

  /**
   * Stages 0 to 3, and the durable part of 4. A refusal is recorded with the clock reading that its
   * stage used.
   *
   * @throws WritException as {@link #serve}
   */
  public Begun begin(IntentSubmission submission, Trust trust, Policy policy) {
    Order order = preflight.check(submission); // 0
    Instant at = time.now(KernelTime.Reading.GATE);
    Optional<Served> before = gate(order, trust, policy, at); // 1
    if (before.isPresent()) {
      return new Begun.Before(before.get());
    }
    StageObserver.during(
        stages,
        Stage.SNAPSHOT,
        () ->
            recorded(
                Stage.SNAPSHOT,
                order,
                at,
                () ->
                    snapshot.verify(
                        order, tools.circumstances(order.request().effect(), policy)))); // 2
    InTime ready =
        StageObserver.during(stages, Stage.PREPARE, () -> prepared(order, policy, at)); // 3
    return new Begun.Now(dispatched(ready.ready(), ready.at())); // 4
  }

  private Optional<Served> gate(Order order, Trust trust, Policy policy, Instant at) {
    return StageObserver.during(
        stages,
        Stage.GATE,
        () -> {
          gate.pass(order, trust, policy, at);
          Optional<Served> before = idempotency.find(order);
          if (before.isEmpty()) {
            order.submission().run().requireNotClosed();
            recorded(
                Stage.GATE,
                order,
                at,
                () -> {
                  gate.requireUnexpired(order.intent(), at);
                  gate.requireStanding(order, trust);
                });
          }
          return before;
        });
  }

  /** A refusal of the check is recorded; that of somebody who may not ask is not. */
  private void recorded(Stage stage, Order order, Instant at, Runnable check) {
    try {
      check.run();
    } catch (WritException refused) {
      refusals.write(order, stage.text(), refused, at);
      throw refused;
    }
  }

  /** What can be dispatched, at the reading at which it was still in time. */
  private record InTime(Ready ready, Instant at) {}

  private InTime prepared(Order order, Policy policy, Instant gateAt) {
    Instant at = gateAt;
    try {
      Ready ready = prepare.prepare(order, policy);
      at = dispatch.reading();
      dispatch.requireInTime(order, at);
      idempotency.requireLive(order);
      if (elsewhere.isPresent()) {
        elsewhere.get().prepare(order, at);
        ready = ready.durable();
      }
      return new InTime(ready, at);
    } catch (WritException refused) {
      refusals.write(order, Stage.PREPARE.text(), refused, at);
      throw refused;
    }
  }

  private Dispatch.Dispatched dispatched(Ready ready, Instant at) {
    return StageObserver.during(stages, Stage.DISPATCH, () -> dispatch.dispatch(ready, at));
  }

  /** The rest of stage 4, and stages 5 to 8; it always ends in a receipt. */
  public Served finish(Dispatch.Dispatched dispatched) {
    if (elsewhere.isPresent()) {
      return StageObserver.during(stages, Stage.RUN, () -> elsewhere.get().finish(dispatched));
    }
    Order order = dispatched.ready().order();
    Ran ran = StageObserver.during(stages, Stage.RUN, () -> dispatch.run(dispatched)); // 4
    if (ran.inDoubt()) {
      return StageObserver.during(stages, Stage.RECEIPT, () -> receipt.doubt(ran)); // 8
    }
    Result checked =
        StageObserver.during(
            stages, Stage.DRIFT, () -> drift.check(dispatched.ready(), Result.of(ran))); // 5
    Result result =
        StageObserver.during(
            stages, Stage.CANONICALIZE, () -> canonicalize.canonicalize(checked)); // 6
    boolean keep = order.request().retention().equals("keep");
    Stored stored =
        StageObserver.during(
            stages, Stage.STORE, () -> store.store(ran, result, keep, stages)); // 7
    return StageObserver.during(stages, Stage.RECEIPT, () -> receipt.sign(ran, stored)); // 8
  }
}
