package dev.writ.executor.journal;

/**
 * What precedes a dispatch and is not committed yet: the request, its decision and its intent, with
 * the rows that they cause. It rides in the batch of the first thing that follows, so that a pure
 * effect costs one commit (PROTOCOL 13). Empty where the intent was committed before.
 */
@FunctionalInterface
public interface Prelude {
  Prelude NOTHING = _ -> {};

  void writeTo(RunTurn turn);
}
