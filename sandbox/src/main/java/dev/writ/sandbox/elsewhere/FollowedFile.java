package dev.writ.sandbox.elsewhere;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Captured;
import dev.writ.sandbox.engine.OutputCapture;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.OptionalLong;

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
   * Reads the rest, after the command's end. What a program wrote may come after the word that it
   * ended, or never: so the file's size comes first, and is held against what came.
   *
   * @param most bytes
   * @throws WritException {@code SBX-009} where the rest does not come, and what {@link
   *     ElsewhereShell#run} throws
   */
  void finish(long most) throws IOException, InterruptedException {
    for (int i = 0; i < ElsewhereShell.TRIES; i++) {
      Sized[] latest = new Sized[1];
      shell.run(
          ElsewhereScripts.KEEP,
          () -> {
            latest[0] = new Sized(new Gate());
            return latest[0];
          },
          () ->
              "/bin/busybox stat -c %s "
                  + file
                  + "; /bin/busybox tail -c "
                  + next()
                  + " "
                  + file
                  + " | /bin/busybox head -c "
                  + most,
          () -> false);
      OptionalLong size = latest[0].size();
      if (size.isPresent() && capture.total() >= Math.min(size.getAsLong(), most)) {
        return;
      }
      ElsewhereShell.pause(i);
    }
    throw new WritException(SandboxError.ENGINE_ANSWER, "the rest of " + file + " does not come");
  }

  Captured captured() {
    return capture.captured();
  }
}
