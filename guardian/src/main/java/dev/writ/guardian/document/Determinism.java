package dev.writ.guardian.document;

import java.util.Locale;

/** What running an operation again with the same inputs gives (protocol rule 14). */
public enum Determinism {
  /**
   * The same bytes, and no trace in the world. Granted by the driver, never by a manifest alone.
   */
  PURE,
  /** The same bytes; counts as impure for dispatch. */
  REPRODUCIBLE,
  /** Whatever the world says; the outcome is recorded. */
  RECORDED;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The weaker of two promises. */
  public Determinism weaker(Determinism other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
