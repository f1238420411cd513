package dev.writ.gateway.schedule;

import java.util.Locale;

/** Is told how each call's waiting ended. */
@FunctionalInterface
public interface LaneObserver {
  LaneObserver NONE = (_, _, _) -> {};

  /** How it ended. */
  enum End {
    /** Its turn came, or it did not have to wait. */
    TURN,
    /** There was no place to wait in. */
    REFUSED,
    /** It waited for as long as it may. */
    EXPIRED,
    /** Its caller gave it up. */
    GIVEN_UP,
    /** The server began to shut down. */
    DRAINED;

    /** The word in a metric's label. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * @param resourceClass {@code small}, {@code medium}, {@code large}, or {@code other}
   * @param waitedNs how long it waited, in nanoseconds
   */
  void waited(String resourceClass, End end, long waitedNs);
}
