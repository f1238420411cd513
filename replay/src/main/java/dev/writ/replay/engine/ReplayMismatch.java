package dev.writ.replay.engine;

/**
 * Ends an attempt at a step that gives something else than was recorded; nothing of the attempt is
 * kept. It is an Error because stages turn exceptions into outcomes, and must not catch this.
 */
final class ReplayMismatch extends Error {
  private static final long serialVersionUID = 1L;

  private final transient Divergence divergence;
  private final transient Chain chain;

  ReplayMismatch(Divergence divergence, Chain chain) {
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
