package dev.writ.replay.engine;

/**
 * Ends an attempt at a step, of which nothing is left then. An Error, for the stages turn
 * exceptions into outcomes, and this is none of theirs.
 */
final class Departed extends Error {
  private static final long serialVersionUID = 1L;

  private final transient Divergence divergence;
  private final transient Chain chain;

  Departed(Divergence divergence, Chain chain) {
    super(divergence.headline(), null, false, false);
    this.divergence = divergence;
    this.chain = chain;
  }

  /** The replay's own events up to here, with the one that differs. */
  Chain chain() {
    return chain;
  }

  Divergence divergence() {
    return divergence;
  }
}
