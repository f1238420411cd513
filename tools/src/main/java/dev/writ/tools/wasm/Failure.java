package dev.writ.tools.wasm;

import com.dylibso.chicory.wasm.ChicoryException;
import dev.writ.executor.driver.DriverOutcome;

/**
 * The meaning of a guest's end. Each way in which Chicory or the JVM ends a guest has exactly one
 * reason here.
 *
 * @param keepsOutput whether the output so far depends on the invocation alone; if the JVM's own
 *     stack or heap was exhausted it does not, and is dropped
 */
record Failure(DriverOutcome.End end, String reason, String message, boolean keepsOutput) {

  static Failure of(Throwable thrown, String stopReason, boolean memoryRefused) {
    if (stopReason != null) {
      return stopped(stopReason);
    }
    if (thrown instanceof GuestEnd guest) {
      return new Failure(guest.end(), guest.reason(), guest.getMessage(), true);
    }
    if (isStackOverflow(thrown)) {
      return new Failure(
          DriverOutcome.End.FAILED, Reason.STACK_OVERFLOW, "the call stack is used up", false);
    }
    if (thrown instanceof OutOfMemoryError) {
      return new Failure(
          DriverOutcome.End.KILLED, Reason.HOST_MEMORY, "the host has no memory left", false);
    }
    if (thrown instanceof ChicoryException) {
      return memoryRefused
          ? new Failure(DriverOutcome.End.KILLED, Reason.OUT_OF_MEMORY, thrown.getMessage(), true)
          : new Failure(DriverOutcome.End.FAILED, Reason.TRAP, thrown.getMessage(), true);
    }
    return new Failure(
        DriverOutcome.End.FAILED, Reason.ENGINE_FAILURE, thrown.getClass().getSimpleName(), false);
  }

  static Failure stopped(String reason) {
    boolean time = reason.equals(Reason.WALL_TIME) || reason.equals(Reason.CPU_TIME);
    DriverOutcome.End end = time ? DriverOutcome.End.TIMED_OUT : DriverOutcome.End.KILLED;
    return new Failure(end, reason, "stopped from outside: " + reason, true);
  }

  private static boolean isStackOverflow(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof StackOverflowError) {
        return true;
      }
    }
    return false;
  }
}
