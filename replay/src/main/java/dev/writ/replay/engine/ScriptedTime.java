package dev.writ.replay.engine;

import dev.writ.executor.stage.KernelTime;
import java.time.Instant;
import java.util.EnumMap;

/**
 * Time as it was recorded. A reading that was recorded is the {@code at} of its event. One that was
 * not is given the recorded reading of the same request before it, which has passed every check of
 * a time that the later one passed: windows of time have no holes.
 */
final class ScriptedTime implements KernelTime {
  private final EnumMap<Reading, Instant> readings = new EnumMap<>(Reading.class);
  private Instant latest = Instant.EPOCH;

  /** Begins a step, at whose time all that is not said otherwise is read. */
  void step(Instant at) {
    readings.clear();
    latest = at;
  }

  void set(Reading reading, Instant at) {
    readings.put(reading, at);
  }

  @Override
  public Instant now(Reading what) {
    return readings.getOrDefault(what, latest);
  }

  @Override
  public Instant nowOrLatest(Reading what) {
    return now(what);
  }

  @Override
  public Instant latest() {
    return latest;
  }
}
