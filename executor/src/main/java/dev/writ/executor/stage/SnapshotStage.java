package dev.writ.executor.stage;

import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.guardian.document.Observed;

/** Stage 2: the snapshot in the decision equals the current one (the seed's phenotype hash). */
public class SnapshotStage {

  /**
   * @param current computed now for the effect's tool and sandbox
   * @throws ObservedException {@code EXE-201}
   */
  public void verify(Order order, Tools.Circumstances current) {
    if (!order.decision().snapshot().equals(current.snapshot())) {
      throw new ObservedException(
          ExecutorError.SNAPSHOT,
          "decided under " + order.decision().snapshot() + ", now " + current.snapshot(),
          Observed.snapshot(current.snapshot()));
    }
  }
}
