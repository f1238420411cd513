package dev.writ.replay.engine;

import dev.writ.executor.driver.Driver;
import java.util.List;

/**
 * How a recording is replayed.
 *
 * @param live whether pure and reproducible tools run again
 * @param all whether to go on after the first difference
 * @param drivers the drivers of the tools: their sandbox profiles are part of snapshots, and with
 *     {@code live} they run tools
 * @param progress gets the number of replayed events; called for each, so it must be quick
 */
public record ReplayOptions(boolean live, boolean all, List<Driver> drivers, Progress progress) {

  /** Hears how far a replay is. */
  @FunctionalInterface
  public interface Progress {
    void at(long events);
  }

  public ReplayOptions {
    drivers = List.copyOf(drivers);
  }

  public static ReplayOptions recorded(List<Driver> drivers) {
    return new ReplayOptions(false, false, drivers, _ -> {});
  }

  public ReplayOptions withLive() {
    return new ReplayOptions(true, all, drivers, progress);
  }

  public ReplayOptions withAll() {
    return new ReplayOptions(live, true, drivers, progress);
  }
}
