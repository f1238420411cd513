package dev.writ.guardian.policy.limit;

import java.time.Duration;

/**
 * How far the host's clock may step forward; beyond that all judging is refused.
 *
 * @param step beyond the time that really passed since the last reading, in a running process
 * @param idle since the last event of the log, at a start
 */
public record ClockLimits(Duration step, Duration idle) {
  /** Where policy says nothing. */
  public static final ClockLimits DEFAULT =
      new ClockLimits(Duration.ofHours(1), Duration.ofDays(90));
}
