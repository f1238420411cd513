package dev.writ.executor;

import java.util.function.UnaryOperator;

/** Lets tests of other packages put a failing collaborator into a stage. */
public final class KernelSeam {
  private KernelSeam() {}

  public static Kernel open(KernelConfig config, UnaryOperator<SafeExecutor> seam) {
    return Kernel.open(config, seam);
  }
}
