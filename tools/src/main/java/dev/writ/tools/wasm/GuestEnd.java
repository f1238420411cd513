package dev.writ.tools.wasm;

import dev.writ.executor.driver.DriverOutcome;

/**
 * Ends a guest from inside one of its calls into the host. It has no stack trace: it is an outcome
 * and not an error of Writ, and guests can cause very many.
 */
public final class GuestEnd extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final DriverOutcome.End end;
  private final String reason;
  private final int exitCode;

  private GuestEnd(DriverOutcome.End end, String reason, String message, int exitCode) {
    super(message, null, false, false);
    this.end = end;
    this.reason = reason;
    this.exitCode = exitCode;
  }

  /** The guest called {@code proc_exit}. */
  public static GuestEnd exit(int code) {
    return code == 0
        ? new GuestEnd(DriverOutcome.End.SUCCEEDED, Reason.OK, "", 0)
        : new GuestEnd(DriverOutcome.End.FAILED, Reason.EXIT_CODE, "exit code " + code, code);
  }

  /** The tool cannot do what was requested. */
  public static GuestEnd failed(String reason, String message) {
    return new GuestEnd(DriverOutcome.End.FAILED, reason, message, 0);
  }

  /** A ceiling ended the guest. */
  public static GuestEnd killed(String reason, String message) {
    return new GuestEnd(DriverOutcome.End.KILLED, reason, message, 0);
  }

  /** The guest used up its instructions. */
  public static GuestEnd fuel(long limit) {
    return new GuestEnd(
        DriverOutcome.End.TIMED_OUT, Reason.FUEL, "more than " + limit + " instructions", 0);
  }

  /** The guest wrote more than it may. */
  public static GuestEnd outputLimit(long max) {
    return killed(Reason.OUTPUT_LIMIT, "more than " + max + " bytes of output");
  }

  public DriverOutcome.End end() {
    return end;
  }

  public String reason() {
    return reason;
  }

  public int exitCode() {
    return exitCode;
  }
}
