package dev.writ.executor.driver;

/**
 * Called by a driver, on the thread that runs the call, when the sandbox of the call begins and
 * ends. It sees no documents and cannot influence the work. A driver without sandboxes calls
 * nothing. No method may throw.
 */
public interface SandboxObserver {
  /** Watches nothing. */
  SandboxObserver NONE =
      new SandboxObserver() {
        @Override
        public void created() {}

        @Override
        public void executing() {}

        @Override
        public void destroyed() {}
      };

  /** The sandbox exists. */
  void created();

  /** A command is about to start in it; called for each command. */
  void executing();

  /** Nothing of the sandbox exists any more: no process, no file. */
  void destroyed();
}
