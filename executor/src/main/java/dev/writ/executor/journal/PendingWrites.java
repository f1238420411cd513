package dev.writ.executor.journal;

/**
 * What precedes a dispatch and is not committed yet: the request, its decision and its intent, with
 * the rows that they cause. It rides in the batch of the first thing that follows, so that a pure
 * effect costs one commit (protocol rule 13). Empty where the intent was committed before.
 */
@FunctionalInterface
public interface PendingWrites {
  PendingWrites NOTHING = _ -> {};

  void writeTo(RunTurn turn);

  /**
   * Whether the request was unknown when the locks of request and idempotency key were taken, which
   * are still held: what was asked of the ledger about it then need not be asked again.
   */
  default boolean isOfNewRequest() {
    return false;
  }
}
