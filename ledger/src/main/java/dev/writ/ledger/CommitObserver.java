package dev.writ.ledger;

/**
 * Called by the writing thread when a group of batches begins to be made durable, and when it is.
 * Neither method may throw.
 */
public interface CommitObserver {
  /** Watches nothing. */
  CommitObserver NONE =
      new CommitObserver() {
        @Override
        public void begins(int batches) {}

        @Override
        public void ends() {}
      };

  void begins(int batches);

  /** Durable, or failed. */
  void ends();
}
