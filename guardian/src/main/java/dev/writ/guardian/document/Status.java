package dev.writ.guardian.document;

import java.util.Locale;

/** How a dispatched effect ended, as its receipt states it. */
public enum Status {
  SUCCEEDED,
  /** The tool failed, or a stage after it refused its output. */
  FAILED,
  TIMED_OUT,
  KILLED,
  /** A crash came between dispatch and receipt: the outcome is unknown (protocol rule 18). */
  IN_DOUBT;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
