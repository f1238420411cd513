package dev.writ.sinks.feed;

import java.time.Duration;

/**
 * How long a feeder waits.
 *
 * @param look for orders, and for events that nothing announced
 * @param first after the first failure
 * @param longest after many failures
 */
public record Pace(Duration look, Duration first, Duration longest) {
  public static final Pace NORMAL =
      new Pace(Duration.ofSeconds(1), Duration.ofMillis(200), Duration.ofMinutes(1));
}
