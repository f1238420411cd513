package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspace;

/**
 * Runs confined commands one after the other, under a user id of its own, with a profile and a
 * workspace. Processes, /tmp and limits belong to one command and end with it; only the workspace
 * lasts from one command to the next.
 */
public interface Sandbox extends AutoCloseable {
  String id();

  Profile profile();

  /** The workspace, which commands see as {@code /workspace}. */
  Workspace workspace();

  /**
   * Starts a command.
   *
   * @throws WritException {@code SBX-023} while another one runs, and what the parts of a command
   *     are refused with
   */
  Execution start(Command command, OutputListener listener);

  /**
   * Starts a command that waits for its standard input, which comes later with its limit of elapsed
   * time. Until then the command's limits apply, with {@code waitMs} in place of the elapsed time.
   *
   * @param command without a stdin
   * @param waitMs elapsed time after which it is ended if it got no input
   * @throws WritException {@code SBX-025} where the command has a stdin already, and as {@link
   *     #start}
   */
  Held hold(Command command, long waitMs, OutputListener listener);

  /**
   * Starts a command whose standard input stays open.
   *
   * @param command without a stdin; its limits are on its whole life, except that of output
   * @param listener gets all output
   * @throws WritException {@code SBX-025} where the command has a stdin already, {@code SBX-033} on
   *     an engine that cannot, and as {@link #start}
   */
  default Conversation converse(Command command, OutputListener listener) {
    throw new WritException(SandboxError.UNSUPPORTED, "this engine holds no conversations");
  }

  /** Runs a command to its end. */
  default Ended exec(Command command) {
    return start(command, OutputListener.NONE).await();
  }

  /** Cancels what runs and removes everything; a fresh workspace is wiped. Idempotent. */
  void destroy();

  @Override
  default void close() {
    destroy();
  }
}
