package dev.writ.executor.stage;

/** An {@link OutOfMemoryError} that a catch would hide from the process. */
public final class OutOfMemory {
  private OutOfMemory() {}

  /**
   * Hands an {@link OutOfMemoryError} to the default handler of uncaught exceptions, where the
   * process has one: that of a server ends the process, so that its supervisor starts it again. The
   * JVM's own option for that sees a full heap, but neither memory outside of it nor threads that
   * cannot be started. Does nothing for anything else.
   */
  public static void report(Throwable e) {
    Thread.UncaughtExceptionHandler process = Thread.getDefaultUncaughtExceptionHandler();
    if (e instanceof OutOfMemoryError && process != null) {
      process.uncaughtException(Thread.currentThread(), e);
    }
  }
}
