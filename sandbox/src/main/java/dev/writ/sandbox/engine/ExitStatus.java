package dev.writ.sandbox.engine;

import java.util.OptionalInt;

/** The exit status of an engine, which reports the command's as a shell would. */
public record ExitStatus(OptionalInt code, OptionalInt signal) {
  public static final int SIGKILL = 9;
  public static final int SIGSYS = 31;
  public static final int SIGXCPU = 24;
  public static final int SIGXFSZ = 25;

  /** For a command that Writ ended: it has no exit status of its own. */
  public static final ExitStatus NONE = new ExitStatus(OptionalInt.empty(), OptionalInt.empty());

  public static ExitStatus of(int status) {
    boolean signalled = status > 128 && status <= 128 + 64;
    return signalled
        ? new ExitStatus(OptionalInt.empty(), OptionalInt.of(status - 128))
        : new ExitStatus(OptionalInt.of(status), OptionalInt.empty());
  }

  public boolean isSuccess() {
    return code.orElse(-1) == 0;
  }

  public boolean isSignal(int number) {
    return signal.orElse(-1) == number;
  }
}
