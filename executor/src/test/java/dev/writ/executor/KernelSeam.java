package dev.writ.executor;

import dev.writ.executor.stage.Surroundings;
import java.util.function.UnaryOperator;

/** Lets tests of other packages put a failing collaborator into a stage. */
public final class KernelSeam {
  private KernelSeam() {}

  public static Kernel open(KernelConfig config, UnaryOperator<SafeExecutor> seam) {
    return Kernel.open(config, seam);
  }

  /** What does again what a kernel did, with a stage exchanged. */
  public static Rerun rerun(Surroundings surroundings, UnaryOperator<SafeExecutor> seam) {
    return new Rerun(surroundings, seam);
  }
}
