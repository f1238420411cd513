package dev.writ.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/**
 * Closes a stream on which nothing has come for a while. A connection whose other end has vanished
 * does not end by itself, and who reads from it would wait for ever.
 */
final class SilenceWatch implements AutoCloseable {
  private final long patience;
  private final Thread watching;
  private volatile long heardAt = System.nanoTime();
  private volatile boolean over;

  /**
   * @param patience after which it is closed, so that reading fails
   */
  SilenceWatch(InputStream stream, Duration patience) {
    this.patience = patience.toNanos();
    this.watching = Thread.ofVirtual().name("writ-silence").start(() -> watch(stream));
  }

  void heard() {
    heardAt = System.nanoTime();
  }

  /**
   * @throws HttpTimeoutException where it closed the stream, whose end may look like another
   */
  void requireInTime() throws HttpTimeoutException {
    if (over) {
      throw new HttpTimeoutException("too little came for too long");
    }
  }

  private void watch(InputStream stream) {
    try {
      for (long left = patience; left > 0; left = heardAt + patience - System.nanoTime()) {
        Thread.sleep(Duration.ofNanos(left));
      }
      over = true;
      stream.close();
    } catch (InterruptedException | IOException e) {
      // its reader has ended, or has closed it
    }
  }

  @Override
  public void close() {
    watching.interrupt();
  }
}
