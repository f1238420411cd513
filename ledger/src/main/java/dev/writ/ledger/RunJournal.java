package dev.writ.ledger;

/** Where turns of runs are written: a ledger, or in a replay what stands for one. */
public interface RunJournal extends LedgerState {

  /**
   * Enqueues a batch and returns at once; the order of calls is the order of commits. Events are
   * checked against the head of their run, enqueued batches included.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-02x} where it is refused: nothing of the
   *     batch is enqueued then
   */
  Commit append(Batch batch);

  /**
   * Refuses where nothing can be written any more: what is known of a run may never have reached
   * the disk then.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-022} after a failure
   */
  default void requireSound() {}

  /**
   * The event that is written where this one would be, asked before it goes into a batch: itself. A
   * replay compares here, and goes on with what was recorded.
   */
  default Event place(Event next) {
    return next;
  }
}
