package dev.writ.executor.stage;

import java.time.Instant;

/**
 * An executor in a process of its own that runs the tools, with a key and a log of its own
 * (spec/apart.md). Stages 0 to 3 are passed here and there; the rest happens there alone.
 */
public interface Elsewhere {

  /**
   * Stage 3, after this process has passed it: whether the executor would serve the order, too.
   *
   * @throws dev.writ.canonicalize.WritException what it refuses with; {@code EXE-930} where it does
   *     not answer
   */
  void prepare(Preflight.Order order, Instant at);

  /**
   * The rest of stage 4, and stages 5 to 8: the executor's receipt, verified and committed here.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-931} where there is none yet
   */
  Served finish(Dispatch.Dispatched dispatched);
}
