package dev.writ.replay.engine;

import dev.writ.executor.testing.TestHome;
import dev.writ.ledger.RunId;

/** Lends the engine's tests to those of bundles. */
public final class ReplaySeam {
  private ReplaySeam() {}

  /** Replays a run, which must come out as it was recorded. */
  public static void completely(TestHome home, RunId run) {
    Replayed.completely(home, run);
  }
}
