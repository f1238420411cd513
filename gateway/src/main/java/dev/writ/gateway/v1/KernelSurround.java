package dev.writ.gateway.v1;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.Kernel;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.view.Surround;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Guidance;
import dev.writ.ledger.note.Checkpoint;
import java.util.Optional;

/** The surround of effects that a running kernel has. */
record KernelSurround(Kernel kernel) implements Surround {

  @Override
  public Trust trust() {
    return kernel.system().trust();
  }

  /** A stored one where there is one; a new one is written for effects that are newer. */
  @Override
  public Optional<Checkpoint> covering(long size) {
    return kernel.ledger().checkpointCovering(size).or(this::fresh);
  }

  private Optional<Checkpoint> fresh() {
    try {
      return Optional.of(kernel.checkpoint());
    } catch (WritException e) {
      if (e.code() == ExecutorError.OWN_KEY) {
        return Optional.empty(); // without a log key in force, nothing can be proven now
      }
      throw e;
    }
  }

  @Override
  public Optional<PolicyExplain> explained(Digest request) {
    return kernel.explanations().explained(request);
  }

  @Override
  public Optional<Guidance> guidance(Digest request) {
    return kernel.explanations().guidance(request);
  }
}
