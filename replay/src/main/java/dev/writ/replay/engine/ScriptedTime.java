package dev.writ.replay.engine;

import dev.writ.executor.stage.KernelTime;
import java.time.Instant;
import java.util.EnumMap;

/**
 * Recorded time. A recorded reading is the {@code at} of its event. A reading that was not recorded
 * gets the recorded one before it of the same request, which passes the same checks, since windows
 * of time are contiguous.
 */
final class ScriptedTime implements KernelTime {
  private final EnumMap<Reading, Instant> readings = new EnumMap<>(Reading.class);
  private Instant latest = Instant.EPOCH;

  /** Begins a step at this time, which every reading gets that is not set otherwise. */
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
