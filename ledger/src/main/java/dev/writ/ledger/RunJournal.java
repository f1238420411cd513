package dev.writ.ledger;

import dev.writ.ledger.event.Event;

/** Where runs are appended to: a ledger, or its substitute in a replay. */
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
   * The same for a caller that calls {@link Commit#await} at once, in this thread, which may then
   * write the batch itself instead of waking another one. Until it does, or somebody enqueues
   * another batch, this one may wait.
   */
  default Commit appendAwaited(Batch batch) {
    return append(batch);
  }

  /** A batch for this journal; it need not have the form in which a ledger stores it. */
  default Batch newBatch() {
    return new Batch();
  }

  /**
   * Refuses where nothing can be written any more: the cached state of a run may not be on the disk
   * then.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-022} after a failure
   */
  default void requireSound() {}

  /**
   * Refuses where whoever writes here has lost the right to act: its lease of the log is over.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-076}
   */
  default void requireLease() {}

  /**
   * The event to write in place of this one, asked before it goes into a batch; normally itself. A
   * replay compares here, and continues with the recorded event.
   */
  default Event place(Event next) {
    return next;
  }
}
