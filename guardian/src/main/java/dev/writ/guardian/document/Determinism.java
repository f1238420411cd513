package dev.writ.guardian.document;

import java.util.Locale;

/**
 * Whether an operation gives the same result when it runs again with the same inputs (protocol rule
 * 14).
 */
public enum Determinism {
  /** The same bytes, without side effects. Granted by the driver, never by a manifest alone. */
  PURE,
  /** The same bytes; counts as impure for dispatch. */
  REPRODUCIBLE,
  /** Depends on the outside world; the outcome is recorded. */
  RECORDED;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The weaker of two promises. */
  public Determinism weaker(Determinism other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
