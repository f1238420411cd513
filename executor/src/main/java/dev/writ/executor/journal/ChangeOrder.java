package dev.writ.executor.journal;

/**
 * Ensures that documents which were written under a state of the installation precede, in the log,
 * any change of that state.
 */
@FunctionalInterface
public interface ChangeOrder {
  /** For writes that are valid under any state, or where the state cannot change meanwhile. */
  ChangeOrder ANY = () -> () -> {};

  /**
   * Blocks changes until the returned object is closed.
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
