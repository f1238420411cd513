package dev.writ.executor.stage;

import dev.writ.canonicalize.WritException;

/**
 * Says whether a receipt that could not be signed is to be signed once more, and waits before it
 * says so. The executor's key may be a service's or a token's, which refuses for a moment, and an
 * effect that was dispatched is not done again. Whoever opens a kernel decides how long that may
 * take: stages have no time of their own.
 */
@FunctionalInterface
public interface SignAgain {
  /** Each receipt is signed once, as in a replay. */
  static SignAgain never() {
    return (_, _) -> false;
  }

  /**
   * @param failures how often it failed so far, 1 or more
   * @param why {@code EXE-801}, whose cause is what was thrown
   */
  boolean after(int failures, WritException why);

  /** Told of what is not signed once more now: whoever keeps it may have it signed later. */
  default void later(Unsigned effect) {}

  /**
   * Refuses where it is known that a receipt would not be signed, before an effect is dispatched
   * that is not done again.
   *
   * @throws WritException what the executor's key refused with; nothing is dispatched
   */
  default void requireSigns() {}
}
