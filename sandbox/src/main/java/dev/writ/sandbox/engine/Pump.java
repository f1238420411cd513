package dev.writ.sandbox.engine;

import dev.writ.sandbox.Captured;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads one output stream of a process to its end, so that the process never blocks on a full pipe.
 */
final class Pump implements Runnable {
  private final InputStream in;
  private final OutputCapture capture;

  Pump(InputStream in, OutputCapture capture) {
    this.in = in;
    this.capture = capture;
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
