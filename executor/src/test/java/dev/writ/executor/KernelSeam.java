package dev.writ.executor;

import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.Surroundings;
import java.util.function.UnaryOperator;

/** Lets tests of other packages put a failing collaborator into a stage. */
public final class KernelSeam {
  private KernelSeam() {}

  public static Kernel open(KernelConfig config, UnaryOperator<SafeExecutor> seam) {
    return Kernel.open(config, seam);
  }

  /** The executor with its seventh stage exchanged. */
  public static SafeExecutor with(SafeExecutor e, StoreStage store) {
    return with(e, store, e.receipt());
  }

  /** The executor with its eighth stage exchanged. */
  public static SafeExecutor with(SafeExecutor e, ReceiptStage receipt) {
    return with(e, e.store(), receipt);
  }

  private static SafeExecutor with(SafeExecutor e, StoreStage store, ReceiptStage receipt) {
    return new SafeExecutor(
        e.time(),
        e.preflight(),
        e.gate(),
        e.idempotency(),
        e.snapshot(),
        e.tools(),
        e.prepare(),
        e.dispatch(),
        e.drift(),
        e.canonicalize(),
        store,
        receipt,
        e.refusals(),
        e.stages());
  }

  /** What does again what a kernel did, with a stage exchanged. */
  public static Rerun rerun(Surroundings surroundings, UnaryOperator<SafeExecutor> seam) {
    return new Rerun(surroundings, seam);
  }
}
