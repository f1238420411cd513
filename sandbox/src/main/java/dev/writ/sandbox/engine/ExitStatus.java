package dev.writ.sandbox.engine;

import java.util.OptionalInt;

/** What an engine exited with, which is what a shell would say of the command. */
record ExitStatus(OptionalInt code, OptionalInt signal) {
  static final int SIGKILL = 9;
  static final int SIGSYS = 31;
  static final int SIGXCPU = 24;
  static final int SIGXFSZ = 25;

  /** For a command that we ended: what it would have said is unknown. */
  static final ExitStatus NONE = new ExitStatus(OptionalInt.empty(), OptionalInt.empty());

  static ExitStatus of(int status) {
    boolean signalled = status > 128 && status <= 128 + 64;
    return signalled
        ? new ExitStatus(OptionalInt.empty(), OptionalInt.of(status - 128))
        : new ExitStatus(OptionalInt.of(status), OptionalInt.empty());
  }

  boolean isSuccess() {
    return code.orElse(-1) == 0;
  }

  boolean isSignal(int number) {
    return signal.orElse(-1) == number;
  }
}
