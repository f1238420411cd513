package dev.writ.sandbox;

/** A command that runs. */
public interface Execution {

  /**
   * Waits for its end. When this returns, no process of it is left; its mounts and its cgroup may
   * still be on their way out, for which the next command and {@link Sandbox#destroy} wait. An
   * interrupt cancels it.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-004} where the engine could not start it
   */
  Ended await();

  /** Cancels it: TERM to all its processes, KILL after the grace. Does nothing after its end. */
  void cancel();
}
