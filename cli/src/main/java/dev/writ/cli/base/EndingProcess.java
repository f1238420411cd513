package dev.writ.cli.base;

/**
 * Whether the process is ending, by a signal or because it was told to. What a command was doing
 * may fail then, since its temporary files are being removed: that says nothing to anybody.
 */
public final class EndingProcess {
  private static final Thread NEVER_STARTED = new Thread(() -> {});

  private EndingProcess() {}

  /** Whether hooks of the shutdown run. */
  public static boolean isEnding() {
    try {
      Runtime.getRuntime().removeShutdownHook(NEVER_STARTED);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }
}
