package dev.writ.sandbox.engine;

import dev.writ.sandbox.Captured;
import dev.writ.sandbox.OutputListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads one output stream of a process: keeps bytes up to the limit of both streams together,
 * counts the rest, and reads on, so that the process never blocks on a full pipe.
 */
final class Pump implements Runnable {
  private final InputStream in;
  private final OutputListener.Stream stream;
  private final OutputListener listener;
  private final AtomicLong left;
  private final Runnable overflow;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private long total;
  private RuntimeException listenerFailed;

  /**
   * @param left how many bytes of both streams may still be kept
   * @param overflow called when there were more
   */
  Pump(
      InputStream in,
      OutputListener.Stream stream,
      OutputListener listener,
      AtomicLong left,
      Runnable overflow) {
    this.in = in;
    this.stream = stream;
    this.listener = listener;
    this.left = left;
    this.overflow = overflow;
  }

  @Override
  public void run() {
    byte[] buffer = new byte[1 << 14];
    try (in) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        take(buffer, n);
      }
    } catch (IOException e) {
      // The stream was closed meanwhile: the process is gone.
    }
  }

  private void take(byte[] buffer, int n) {
    long before = left.getAndUpdate(l -> Math.max(0, l - n));
    int keep = (int) Math.min(n, before);
    synchronized (this) {
      total += n;
      kept.write(buffer, 0, keep);
    }
    if (keep > 0 && listenerFailed == null) {
      try {
        listener.output(stream, Arrays.copyOf(buffer, keep));
      } catch (RuntimeException e) {
        listenerFailed = e; // a listener's failure must not stop the reading
      }
    }
    if (keep < n) {
      overflow.run();
    }
  }

  synchronized long total() {
    return total;
  }

  synchronized Captured captured() {
    return new Captured(kept.toByteArray(), total);
  }
}
