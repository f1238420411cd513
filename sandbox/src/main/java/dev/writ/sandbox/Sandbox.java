package dev.writ.sandbox;

import dev.writ.sandbox.workspace.Workspace;

/**
 * A place in which commands run confined, one after the other: a user id of its own, a profile and
 * a workspace. Processes, /tmp and limits belong to one command and end with it; what lasts from
 * one command to the next is the workspace.
 */
public interface Sandbox extends AutoCloseable {
  String id();

  Profile profile();

  /** What commands see as {@code /workspace}. */
  Workspace workspace();

  /**
   * Starts a command.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-023} while another one runs, and what
   *     the parts of a command are refused with
   */
  Execution start(Command command, OutputListener listener);

  /**
   * Starts a command that waits: what it reads, and how long it may then take, is told later. Until
   * then it has the command's limits, with {@code waitMs} in the place of the elapsed time.
   *
   * @param command without a stdin
   * @param waitMs elapsed time until it is ended if nothing is handed over
   * @throws dev.writ.canonicalize.WritException {@code SBX-025} where the command has a stdin
   *     already, and as {@link #start}
   */
  Held hold(Command command, long waitMs, OutputListener listener);

  /** Runs a command to its end. */
  default Ended exec(Command command) {
    return start(command, OutputListener.NONE).await();
  }

  /** Cancels what runs and takes everything away; a fresh workspace is wiped. Idempotent. */
  void destroy();

  @Override
  default void close() {
    destroy();
  }
}
