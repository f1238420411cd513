package dev.writ.executor;

import dev.writ.executor.journal.Runs;
import dev.writ.executor.stage.CanonicalizeStage;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.Drift;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.Preflight;
import dev.writ.executor.stage.Prepare;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Refusals;
import dev.writ.executor.stage.SnapshotStage;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.Surroundings;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.Guardian;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The wiring of all parts that act, used by the kernel and by replay alike. */
record KernelWiring(
    Runs runs,
    Idempotency idempotency,
    SafeExecutor executor,
    Judging judging,
    Administration administration,
    RunClosings closings,
    Recovery recovery) {

  /**
   * @param seam for tests: replaces a stage
   */
  static KernelWiring of(Surroundings s, UnaryOperator<SafeExecutor> seam) {
    Runs runs = new Runs(s.journal(), s.random());
    Idempotency idempotency = new Idempotency(s.journal());
    SafeExecutor executor = seam.apply(stages(s, idempotency));
    Guardian guardian = new Guardian(s.guardian(), s.audience());
    return new KernelWiring(
        runs,
        idempotency,
        executor,
        new Judging(s.journal(), s.time(), s.accounts(), s.consumable(), guardian, s.tools()),
        new Administration(s.journal(), s.time(), runs),
        new RunClosings(s.journal(), s.time(), runs, s.executor()),
        new Recovery(s.journal(), s.time(), runs, executor.receipt()));
  }

  private static SafeExecutor stages(Surroundings s, Idempotency idempotency) {
    Gate gate = new Gate(s::audience, s.journal()::document);
    WorkspaceUse workspaces = new WorkspaceUse(s.journal(), s.workspaces());
    return new SafeExecutor(
        s.time(),
        new Preflight(),
        gate,
        idempotency,
        new SnapshotStage(),
        s.tools(),
        new Prepare(s.tools(), s.prohibited(), s.readable(), workspaces),
        new Dispatch(s.time(), gate, s.inputs(), workspaces, s.journal()::requireLease),
        new Drift(),
        new CanonicalizeStage(),
        new StoreStage(s.contents()),
        new ReceiptStage(
            s.executor(),
            s.accounts(),
            id -> idempotency.document(id).lamport(),
            s.region(),
            s.again()),
        new Refusals(s.journal(), s.executor(), s.accounts()),
        s.stages(),
        Optional.empty());
  }
}
