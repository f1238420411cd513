package dev.writ.cli.command;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Work that goes on until Ctrl-C or SIGTERM, and is then given the time to close what it has open
 * and to leave the terminal as it was. The process ends with the signal's status.
 */
public final class UntilStopped implements AutoCloseable {
  /** How long the JVM waits for the work to be closed. */
  private static final Duration CLOSED_WITHIN = Duration.ofSeconds(3);

  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stop);

  /** Begins to wait for Ctrl-C or another end of the process. */
  public UntilStopped() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void stop() {
    stop.countDown();
    await(closed, CLOSED_WITHIN);
  }

  private static boolean await(CountDownLatch latch, Duration atMost) {
    try {
      return latch.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      return true; // asks for the same as a signal; what is closed after this must not see it
    }
  }

  /** Waits for so long; false once the work is to end. */
  public boolean pause(Duration time) {
    return !await(stop, time);
  }

  /** Called when everything is closed; does not return where a signal ends the process. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      closed.countDown();
      await(new CountDownLatch(1), Duration.ofDays(1)); // the JVM ends meanwhile
    }
  }
}
