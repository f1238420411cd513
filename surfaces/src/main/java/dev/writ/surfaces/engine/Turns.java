package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.LaneError;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.surfaces.engine.EngineExecutions.Key;
import dev.writ.surfaces.engine.EngineExecutions.Known;
import dev.writ.tools.language.PoolName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Gives allowed executions their turn, and ends them within their budget. */
final class Turns {
  /** The time after the budget in which a tool's own limit may end it, before it is cancelled. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final Pipeline pipeline;
  private final Lane lane;
  private final EngineExecutions executions;
  private final EnginePlace.Queue queue;

  Turns(Pipeline pipeline, Lane lane, EngineExecutions executions, EnginePlace.Queue queue) {
    this.queue = queue;
    this.pipeline = pipeline;
    this.lane = lane;
    this.executions = executions;
  }

  /**
   * An allowed execution that waits for its turn.
   *
   * @param since when the call arrived, by {@link System#nanoTime}
   */
  record Allowed(
      Caller caller,
      Key key,
      Digest request,
      Ticket ticket,
      Optional<Workers> workers,
      Optional<Long> budgetMs,
      long since) {}

  /** Those that an execution could use. */
  record Workers(PoolName pool, Digest packageDigest) {}

  static long elapsedMs(long since) {
    return (System.nanoTime() - since) / 1_000_000;
  }

  void runInBackground(Allowed go, EngineExecution execution) {
    try {
      run(go, execution);
    } catch (WritException e) {
      // the outcome is kept for status requests
    } finally {
      executions.end(go.key(), execution);
    }
  }

  /**
   * Waits for its turn and executes it; the outcome is kept.
   *
   * @throws WritException where the queue has no room, or the kernel refuses for a reason of the
   *     moment
   */
  void run(Allowed go, EngineExecution execution) {
    long queuedAt = System.nanoTime();
    AtomicBoolean begun = new AtomicBoolean();
    AtomicBoolean overBudget = new AtomicBoolean();
    AtomicBoolean waits = new AtomicBoolean(true);
    go.workers().ifPresent(w -> queue.waits(go.ticket().tenant(), w.pool(), w.packageDigest()));
    try {
      execution.queue();
      Lane.Ran<Boolean> ran =
          lane.run(
              go.ticket(),
              () -> {
                waitsNoMore(go, waits);
                begun.set(execution.begin());
                if (begun.get()) {
                  execute(go, overBudget);
                }
                return begun.get();
              });
      remember(
          go,
          ran.waitedMs(),
          ran.value() ? Optional.empty() : Optional.of(Ending.notDispatched()),
          overBudget.get());
    } catch (WritException e) {
      ended(go, execution, begun.get(), elapsedMs(queuedAt), e);
    } catch (RuntimeException e) {
      boolean toldToGo = !begun.get() && execution.isCancelled();
      remember(
          go,
          elapsedMs(queuedAt),
          Optional.of(toldToGo ? Ending.notDispatched() : Ending.refused(GatewayError.INTERNAL)),
          false);
      if (!toldToGo) {
        throw e;
      }
    } finally {
      waitsNoMore(go, waits);
      execution.leave();
    }
  }

  private void waitsNoMore(Allowed go, AtomicBoolean waits) {
    if (waits.getAndSet(false)) {
      go.workers().ifPresent(w -> queue.goes(go.ticket().tenant(), w.pool(), w.packageDigest()));
    }
  }

  /** The lane or the kernel refused an allowed execution. */
  private void ended(
      Allowed go, EngineExecution execution, boolean begun, long waitedMs, WritException refused) {
    boolean timeIsOver =
        refused.code() == LaneError.QUEUE_TTL || Problems.status(refused.code()) == 504;
    if (!begun && execution.isCancelled()) {
      remember(go, waitedMs, Optional.of(Ending.notDispatched()), false);
    } else if (!begun && timeIsOver) {
      giveUp(go);
      remember(go, waitedMs, Optional.of(Ending.inTheQueue()), false);
    } else {
      remember(go, begun ? 0 : waitedMs, Optional.of(Ending.refused(refused.code())), false);
      if (!begun || !IncidentKind.isPolicys(refused.code().code())) {
        throw refused;
      }
    }
  }

  /** Has the journal say that the turn did not come, so that webhooks tell of it. */
  private void giveUp(Allowed go) {
    try {
      pipeline.giveUp(
          go.caller(),
          go.request(),
          new WritException(EngineError.IN_THE_QUEUE, go.ticket().tool()));
    } catch (WritException e) {
      // The refusal that was asked for; or another one, which then is the reason.
    }
  }

  private void remember(Allowed go, long waitedMs, Optional<Ending> undispatched, boolean over) {
    executions.remember(
        go.key(), new Known(go.request(), Optional.of(waitedMs), undispatched, over));
  }

  /** Executes the live decision; refused if the permission was withdrawn meanwhile. */
  private void execute(Allowed go, AtomicBoolean overBudget) {
    CountDownLatch done = new CountDownLatch(1);
    go.budgetMs()
        .ifPresent(ms ->
            Thread.ofVirtual()
                .start(() -> cancelWhenOver(go, ms - elapsedMs(go.since()), done, overBudget)));
    try {
      pipeline.again(go.caller(), go.request(), Optional.empty());
    } finally {
      done.countDown();
    }
  }

  private void cancelWhenOver(
      Allowed go, long leftMs, CountDownLatch done, AtomicBoolean overBudget) {
    try {
      if (!done.await(Math.max(0, leftMs) + GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        overBudget.set(true);
        pipeline.cancel(go.caller(), go.request());
      }
    } catch (WritException e) {
      // it ended at the last moment: its own outcome counts
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
