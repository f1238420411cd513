package dev.writ.sinks.feed;

import java.time.Duration;

/**
 * How long a feeder waits.
 *
 * @param look for orders, and for events that nothing announced
 * @param first after the first failure
 * @param longest after many failures
 * @param ending for the target's answer, when the server ends
 */
public record Pace(Duration look, Duration first, Duration longest, Duration ending) {
  public static final Pace NORMAL =
      new Pace(
          Duration.ofSeconds(1),
          Duration.ofMillis(200),
          Duration.ofMinutes(1),
          Duration.ofSeconds(5));
}
