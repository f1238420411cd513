package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.SystemState;
import java.util.List;
import java.util.Optional;

/**
 * Attempts to repeat a step: under one possible state of the system after the other, until one
 * reproduces the recording. What differs is a divergence.
 */
final class StepAttempts {
  /** An action of the kernel that may write. */
  @FunctionalInterface
  interface Action {
    void under(SystemState state);
  }

  private final RecordedKernel kernel;
  private final Comparison comparison;
  private final boolean goesOn;
  private final List<Divergence> divergences;

  /** How many divergences there were before the last attempt. */
  private int before;

  private Optional<Digest> departed = Optional.empty();

  /**
   * @param goesOn whether the replay goes on after a divergence, with what was recorded
   * @param divergences gets what is found
   */
  StepAttempts(RecordedKernel kernel, boolean goesOn, List<Divergence> divergences) {
    this.kernel = kernel;
    this.comparison = kernel.comparison;
    this.goesOn = goesOn;
    this.divergences = divergences;
  }

  /**
   * Runs an action under the first of several states that reproduces the recording; if none does,
   * under the newest, and reports the divergence.
   *
   * @param candidates the newest first
   * @param instead takes over the recorded events, if the replay continues after a divergence
   * @return whether no divergence was found
   */
  boolean attempt(List<SystemState> candidates, Action action, Action instead) {
    before = divergences.size();
    ReplayMismatch first = null;
    for (SystemState state : candidates) {
      comparison.attempt(false);
      kernel.under(state);
      try {
        action.under(state);
        divergences.addAll(comparison.found());
        return divergences.size() == before;
      } catch (ReplayMismatch d) {
        first = first == null ? d : first;
      }
    }
    if (!goesOn) {
      divergences.add(first.divergence());
      departed = first.chain().hash();
      return false;
    }
    comparison.attempt(true);
    kernel.under(candidates.getFirst());
    try {
      action.under(kernel.current());
      divergences.addAll(comparison.found());
    } catch (ReplayMismatch d) {
      divergences.addAll(comparison.found());
      divergences.add(d.divergence());
      takeOver(kernel.current(), instead);
    }
    return divergences.size() == before;
  }

  /** Takes over the recorded events, without reporting a divergence. */
  void takeOver(SystemState state, Action instead) {
    comparison.attempt(true);
    kernel.under(state);
    instead.under(state);
  }

  /** Fails the attempt if an event of the step was not reproduced. */
  void require(boolean written, String instead) {
    if (!written) {
      throw new ReplayMismatch(comparison.missing(instead), comparison.chain());
    }
  }

  /** A refusal by the kernel writes nothing except its own event, if it has one. */
  void acted(Runnable action) {
    try {
      action.run();
    } catch (WritException refused) {
      require(comparison.isDone(), "refused with " + refused.code().code() + " " + refused.found());
    }
    require(comparison.isDone(), "done without it");
  }

  /** Reports a divergence of a step that cannot be attempted. */
  void depart(Divergence divergence) {
    divergences.add(divergence);
    departed = comparison.chain().hash();
  }

  /** The hash of the run's chain before the divergence that ended the replay. */
  Optional<Digest> departed() {
    return departed;
  }

  /** The divergences of the last attempt. */
  List<Divergence> found() {
    return divergences.subList(before, divergences.size());
  }

  /** The divergences of the last attempt were none. */
  void takeBack() {
    found().clear();
    departed = Optional.empty();
  }
}
