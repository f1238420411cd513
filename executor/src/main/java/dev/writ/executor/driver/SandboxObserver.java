package dev.writ.executor.driver;

/**
 * Called by a driver, on the thread that runs the call, when the sandbox of the call begins and
 * ends. It sees no documents and cannot influence the work. A driver without sandboxes calls
 * nothing. No method may throw.
 */
public interface SandboxObserver {
  /** Watches nothing. */
  SandboxObserver NONE = new SandboxObserver() {};

  /** The call's commands run in the sandbox of that name, which may have been waiting for it. */
  default void in(String sandboxId) {}

  /** The sandbox exists. */
  default void created() {}

  /** A command is about to start in it; called for each command. */
  default void executing() {}

  /** That command has ended. */
  default void executed() {}

  /** Nothing of the sandbox exists any more: no process, no file. */
  default void destroyed() {}

  /** Whom the call's tool may speak with; not an observer, but it comes the same way. */
  default CallPeer peer() {
    return CallPeer.NONE;
  }
}
