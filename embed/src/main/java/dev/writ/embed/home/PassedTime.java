package dev.writ.embed.home;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * Nanoseconds that passed on this host, however its clock is set. Where the kernel of the host says
 * so, the time that it was suspended counts, so that a computer that slept over a weekend is not
 * taken for one whose clock leapt; elsewhere {@link System#nanoTime}.
 */
final class PassedTime implements LongSupplier {
  private static final Path UPTIME = Path.of("/proc/uptime");

  /** How long a reading of the host's uptime is good for. */
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

  /** Since the host started, suspended or not, in nanoseconds; -1 where it does not say. */
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
