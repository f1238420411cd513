package dev.writ.sandbox.engine;

import dev.writ.sandbox.Captured;
import dev.writ.sandbox.OutputListener;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads one output stream of a process to its end, so that the process never blocks on a full pipe.
 */
final class Pump implements Runnable {
  private final InputStream in;
  private final OutputCapture capture;

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
    this.capture = new OutputCapture(stream, listener, left, overflow);
  }

  @Override
  public void run() {
    byte[] buffer = new byte[1 << 14];
    try (in) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        capture.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // The stream was closed meanwhile: the process is gone.
    }
  }

  long total() {
    return capture.total();
  }

  Captured captured() {
    return capture.captured();
  }
}
