package dev.writ.executor.journal;

/**
 * Keeps what is written under a state of the installation before the changes of that state in the
 * log.
 */
@FunctionalInterface
public interface ChangeOrder {
  /** Written whatever is in force, or where nothing changes meanwhile. */
  ChangeOrder ANY = () -> () -> {};

  /**
   * Keeps changes back until what it returns is closed.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-970} where the state changed already
   */
  Held hold();

  /** Changes wait for its closing. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }
}
