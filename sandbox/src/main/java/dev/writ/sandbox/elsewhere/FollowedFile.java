package dev.writ.sandbox.elsewhere;

import dev.writ.sandbox.Captured;
import dev.writ.sandbox.engine.OutputCapture;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * One output stream of a command, which writes it to a file on its host. It is read while it grows;
 * after a lost connection reading goes on where it stopped, and the rest is read at the end.
 */
final class FollowedFile {
  private final ElsewhereShell shell;
  private final String file;
  private final OutputCapture capture;
  private final long mostMs;
  private final Thread reader;
  private volatile boolean stopped;

  /**
   * @param name {@code stdout} or {@code stderr}
   * @param mostMs how long the command may run
   */
  FollowedFile(ElsewhereShell shell, String name, OutputCapture capture, long mostMs) {
    this.shell = shell;
    this.file = "/pod/out/" + name;
    this.capture = capture;
    this.mostMs = mostMs;
    this.reader = Thread.ofVirtual().name("writ-elsewhere-" + name).unstarted(this::follow);
  }

  /** Takes what one connection brings, until it is closed; what comes late is read by the next. */
  private final class Gate extends OutputStream {
    private boolean open = true;

    @Override
    public synchronized void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      if (open) {
        capture.write(bytes, offset, length);
      }
    }

    @Override
    public synchronized void close() {
      open = false;
    }
  }

  void start() {
    reader.start();
  }

  private void follow() {
    long read = 0;
    try {
      for (int i = 0; !stopped; i = Math.min(i + 1, ElsewhereShell.TRIES - 1)) {
        try (Gate gate = new Gate()) {
          shell.once(
              ElsewhereScripts.KEEP,
              gate,
              mostMs,
              List.of("/bin/busybox", "tail", "-c", next(), "-f", file));
        } catch (LostConnection e) {
          // The next try goes on from there; the rest is read at the end in any case.
        }
        if (capture.total() > read) { // it was there: what follows is another loss
          read = capture.total();
          i = 0;
        }
        ElsewhereShell.pause(i);
      }
    } catch (InterruptedException e) {
      return;
    }
  }

  /** The first byte that was not read, as tail counts: from 1. */
  private String next() {
    return "+" + (capture.total() + 1);
  }

  /** Stops reading; a second time it does nothing. */
  void stop() throws InterruptedException {
    stopped = true;
    reader.interrupt();
    reader.join();
  }

  /**
   * Reads the rest, after the command's end.
   *
   * @param most bytes
   */
  void finish(long most) throws IOException, InterruptedException {
    shell.run(
        ElsewhereScripts.KEEP,
        Gate::new,
        () -> "/bin/busybox tail -c " + next() + " " + file + " | /bin/busybox head -c " + most,
        () -> false);
  }

  Captured captured() {
    return capture.captured();
  }
}
