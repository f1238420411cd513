package dev.writ.executor.document;

import dev.writ.executor.driver.Outcome;
import java.util.Locale;

/** How a dispatched effect ended, as its receipt says. */
public enum Status {
  SUCCEEDED,
  /** The tool failed, or a stage after it refused what it gave. */
  FAILED,
  TIMED_OUT,
  KILLED,
  /** A crash came between dispatch and receipt: nobody knows (PROTOCOL 18). */
  IN_DOUBT;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The status of a tool's own end. */
  public static Status of(Outcome.End end) {
    return switch (end) {
      case SUCCEEDED -> SUCCEEDED;
      case FAILED -> FAILED;
      case TIMED_OUT -> TIMED_OUT;
      case KILLED -> KILLED;
    };
  }
}
