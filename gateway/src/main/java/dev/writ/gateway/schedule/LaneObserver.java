package dev.writ.gateway.schedule;

import java.util.Locale;

/** Called when a call's wait has ended, in any way. */
@FunctionalInterface
public interface LaneObserver {
  LaneObserver NONE = (_, _, _) -> {};

  /** How it ended. */
  enum End {
    /** It got its turn, or did not have to wait. */
    TURN,
    /** The queue was full. */
    REFUSED,
    /** It waited for the longest time that it may. */
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
