package dev.writ.ledger;

import dev.writ.canonicalize.WritException;

/** A batch on its way to the disk. */
public interface Commit {
  /**
   * Returns when the batch is durable.
   *
   * @throws WritException with the code of what failed ({@code LED-005}, {@code LED-008}, {@code
   *     LED-022}…): the batch must be taken as neither committed nor lost until the ledger has been
   *     opened again
   */
  void await();

  /** Whether {@link #await} would return or throw at once. */
  boolean isDone();
}
