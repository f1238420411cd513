package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;

/** The streams of a process in a container: a connection that was upgraded from HTTP. */
public final class Attached implements AutoCloseable {
  private final ApiConnection connection;
  private final FrameStream stdout = new FrameStream();
  private final FrameStream stderr = new FrameStream();
  private volatile boolean closed;
  private volatile boolean ended;
  private volatile WritException broken;

  Attached(ApiConnection connection) {
    this.connection = connection;
    Thread.ofVirtual().name("writ-sandbox-frames").start(this::pump);
  }

  private void pump() {
    try {
      try {
        for (var head = FrameHead.read(connection.in());
            head.isPresent();
            head = FrameHead.read(connection.in())) {
          piece(head.get());
        }
      } catch (IOException e) {
        if (!closed) {
          broken = ResponseHead.malformed("the streams of a process broke");
        }
      } catch (WritException e) {
        broken = closed ? null : e;
      }
      ended = true;
      stdout.end();
      stderr.end();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void piece(FrameHead head) throws IOException, InterruptedException {
    int left = head.length();
    while (left > 0) {
      byte[] bytes = connection.in().readNBytes(Math.min(left, 1 << 16));
      if (bytes.length == 0) {
        throw ResponseHead.malformed("an end in a frame");
      }
      left -= bytes.length;
      (head.stream() == 1 ? stdout : stderr).put(bytes);
    }
  }

  /** The standard input of the process; closing it is its end of file. */
  public OutputStream stdin() {
    return new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        connection.out().write(one);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        connection.out().write(bytes, offset, length);
      }

      @Override
      public void close() throws IOException {
        connection.endOutput();
      }
    };
  }

  public InputStream stdout() {
    return stdout;
  }

  public InputStream stderr() {
    return stderr;
  }

  /** Whether the service signalled the end of the output. */
  public boolean ended() {
    return ended;
  }

  /** The malformed frame that was received, if any. */
  public Optional<WritException> broken() {
    return Optional.ofNullable(broken);
  }

  @Override
  public void close() {
    closed = true;
    connection.close();
  }
}
