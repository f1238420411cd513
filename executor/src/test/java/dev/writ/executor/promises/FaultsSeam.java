package dev.writ.executor.promises;

import dev.writ.executor.SafeExecutor;

/** Broken executors for tests of other packages. */
public final class FaultsSeam {
  private FaultsSeam() {}

  /** For a ledger that has nothing to recover: from now on no receipt can be signed. */
  public static SafeExecutor signingFailsAfterRecovery(SafeExecutor executor) {
    return Faults.signingFails(executor);
  }
}
