package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.stage.CanonicalizeStage;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.Dispatch.Ran;
import dev.writ.executor.stage.Drift;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.Preflight;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.executor.stage.Prepare;
import dev.writ.executor.stage.Prepare.Ready;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Refusals;
import dev.writ.executor.stage.Result;
import dev.writ.executor.stage.SnapshotStage;
import dev.writ.executor.stage.Store;
import dev.writ.executor.stage.Store.Stored;
import dev.writ.executor.stage.Tools;
import dev.writ.executor.stage.Writ;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.Optional;

/**
 * Serves a writ in eight stages, each of which fails closed. Stages 1 to 3 refuse with an exception
 * and dispatch nothing; from stage 4 on a refusal is an outcome, and every outcome ends in a signed
 * receipt. The caller holds the locks of request and idempotency key, and that of the run's
 * workspace where the tool uses it.
 *
 * @param refusals where a refusal of stages 1 to 3 is written down
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
    Store store,
    ReceiptStage receipt,
    Refusals refusals) {

  /**
   * @throws WritException {@code EXE-0xx} to {@code EXE-3xx}: nothing was dispatched; {@code
   *     EXE-801} or {@code LED-0xx}: it was, and is in doubt until the next start
   */
  public Served serve(Writ writ, Trust trust, Policy policy) {
    return switch (begin(writ, trust, policy)) {
      case Begun.Before before -> before.served();
      case Begun.Now now -> finish(now.dispatched());
    };
  }

  /** What stages 0 to 3 led to. */
  public sealed interface Begun {
    /** It was served before. */
    record Before(Served served) implements Begun {}

    /** It is dispatched; an impure effect durably so. */
    record Now(Dispatch.Dispatched dispatched) implements Begun {}
  }

  /**
   * Stages 0 to 3, and the durable part of 4. A refusal is written down with the clock reading that
   * its stage was given.
   *
   * @throws WritException as {@link #serve}
   */
  public Begun begin(Writ writ, Trust trust, Policy policy) {
    Order order = preflight.check(writ); // 0
    Instant at = time.now(KernelTime.Reading.GATE);
    gate.pass(order, trust, policy, at); // 1
    Optional<Served> before = idempotency.find(order);
    if (before.isPresent()) {
      return new Begun.Before(before.get());
    }
    writ.run().requireNotClosed();
    Ready ready;
    String stage = "gate";
    try {
      gate.requireUnexpired(order.intent(), at);
      stage = "snapshot";
      snapshot.verify(order, tools.circumstances(order.request().effect(), policy)); // 2
      stage = "prepare";
      ready = prepare.prepare(order, policy); // 3
      at = dispatch.reading();
      dispatch.requireInTime(order, at);
      idempotency.requireLive(order);
    } catch (WritException refused) {
      refusals.write(order, stage, refused, at);
      throw refused;
    }
    return new Begun.Now(dispatch.dispatch(ready, at)); // 4
  }

  /** The rest of stage 4, and stages 5 to 8: whatever happens, it ends in a receipt. */
  public Served finish(Dispatch.Dispatched dispatched) {
    Order order = dispatched.ready().order();
    Ran ran = dispatch.run(dispatched); // 4
    Result result = drift.check(dispatched.ready(), Result.of(ran)); // 5
    result = canonicalize.canonicalize(result); // 6
    Stored stored = store.store(ran, result, order.request().retention().equals("keep")); // 7
    return receipt.sign(ran, stored); // 8
  }
}
