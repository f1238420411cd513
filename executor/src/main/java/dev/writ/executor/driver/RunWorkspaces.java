package dev.writ.executor.driver;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import java.time.Instant;

/** The workspaces of runs, as the executor needs them (protocol rule 20). */
public interface RunWorkspaces {

  /** The digest of a tree with nothing in it (spec/sandbox.md). */
  Digest EMPTY = Digest.sha256();

  /** An installation without workspaces: a tool that needs one is refused in stage 3. */
  RunWorkspaces NONE =
      new RunWorkspaces() {
        @Override
        public Digest treeDigest(String tenant, String run) {
          throw none(run);
        }

        @Override
        public void wipe(String tenant, String run, String reason, Instant at) {
          throw none(run);
        }

        private WritException none(String run) {
          return new WritException(ExecutorError.WORKSPACES_MISSING, "run " + run);
        }
      };

  /**
   * The digest of the tree as it is now; {@link #EMPTY} if the run has no workspace yet. The
   * executor holds the run's workspace lock.
   *
   * @throws WritException where it cannot be measured
   */
  Digest treeDigest(String tenant, String run);

  /**
   * Removes the workspace, if there is one. The executor holds the run's workspace lock; called for
   * runs that used their workspace only.
   *
   * @param reason a stable word, which is recorded
   * @throws WritException where it cannot be taken away; it is tried again at the next start
   */
  void wipe(String tenant, String run, String reason, Instant at);

  /**
   * Removes workspaces whose stated lifetime is over; the implementation knows it. Called when a
   * kernel opens, before it serves anything.
   *
   * @throws WritException if one cannot be removed; the kernel opens nevertheless
   */
  default void wipeExpired(Instant now) {}
}
