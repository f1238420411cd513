package dev.writ.guardian.document;

import java.util.Locale;

/** How a dispatched effect ended, as its receipt says. */
public enum Status {
  SUCCEEDED,
  /** The tool failed, or a stage after it refused what it gave. */
  FAILED,
  TIMED_OUT,
  KILLED,
  /** A crash came between dispatch and receipt: nobody knows (protocol rule 18). */
  IN_DOUBT;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
