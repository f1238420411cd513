package dev.writ.ledger.form;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.time.Duration;
import java.time.Instant;

/**
 * The rule for times along the log. Events reach the log a little later than their clock was read,
 * so times need not increase. But no time is more than {@link #LATE_MAX} behind the greatest before
 * it, or before the time at which time was last restarted. Not thread safe.
 */
public final class LogTime {
  /** How far an event's time may lie behind the greatest time before it. */
  public static final Duration LATE_MAX = Duration.ofDays(1);

  private Instant latest;
  private Instant floor;

  private LogTime(Instant latest, Instant floor) {
    this.latest = latest;
    this.floor = floor;
  }

  /** The time of a log without events. */
  public static LogTime begin() {
    return new LogTime(Instant.EPOCH, Instant.MIN);
  }

  /**
   * @param latest greatest time since the last restart
   * @param floor time of the last restart; {@link Instant#MIN} where there was none
   */
  public static LogTime of(Instant latest, Instant floor) {
    return new LogTime(latest, floor);
  }

  public LogTime copy() {
    return new LogTime(latest, floor);
  }

  /** The greatest time since the last restart; the epoch where there is none. */
  public Instant latest() {
    return latest;
  }

  /** The time of the last restart; {@link Instant#MIN} where there was none. */
  public Instant floor() {
    return floor;
  }

  /** The least time that the next event may have. */
  public Instant earliest() {
    Instant late = latest.minus(LATE_MAX);
    return late.isAfter(floor) ? late : floor;
  }

  /**
   * Takes the next event's time.
   *
   * @throws WritException {@code LED-060}; nothing is taken then
   */
  public void take(Instant at) {
    if (at.isBefore(earliest())) {
      throw new WritException(
          LedgerError.TIME_BACK,
          "its time is "
              + at
              + ", the log's latest "
              + latest
              + (floor.equals(Instant.MIN) ? "" : ", restarted at " + floor));
    }
    if (at.isAfter(latest)) {
      latest = at;
    }
  }

  /** Time continues from there with the next event. */
  public void restart(Instant at) {
    latest = at;
    floor = at;
  }
}
