package dev.writ.replay.engine;

/**
 * Ends an attempt at a step that differs from the recording; the attempt has no effect. It is an
 * Error because stages turn exceptions into outcomes and must not catch this one.
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

  /** The replay's own events so far, including the one that differs. */
  Chain chain() {
    return chain;
  }

  Divergence divergence() {
    return divergence;
  }
}
