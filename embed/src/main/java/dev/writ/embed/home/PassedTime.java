package dev.writ.embed.home;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * Monotonic time of this host in nanoseconds, which setting the clock does not change. On Linux it
 * includes the time that the host was suspended, so that a computer that slept over a weekend is
 * not taken for one whose clock leapt; elsewhere it is {@link System#nanoTime}.
 */
final class PassedTime implements LongSupplier {
  private static final Path UPTIME = Path.of("/proc/uptime");

  /** How long a reading of the host's uptime is reused. */
  private static final long GOOD_NANOS = 100_000_000;

  private final long nanosAtStart = System.nanoTime();
  private final long uptimeAtStart = uptime();
  private long suspended;
  private long lookedAt;

  @Override
  public synchronized long getAsLong() {
    long running = System.nanoTime() - nanosAtStart;
    if (uptimeAtStart >= 0 && running - lookedAt > GOOD_NANOS) {
      lookedAt = running;
      suspended = Math.max(suspended, uptime() - uptimeAtStart - running);
    }
    return running + suspended;
  }

  /** Nanoseconds since the host started, including suspension; -1 if the host does not say. */
  private static long uptime() {
    try {
      String line = Files.readString(UPTIME, StandardCharsets.US_ASCII);
      String seconds = line.substring(0, line.indexOf(' '));
      return Math.round(Double.parseDouble(seconds) * 1_000_000_000L);
    } catch (IOException | RuntimeException e) {
      return -1;
    }
  }
}
