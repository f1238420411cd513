package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The protocol over standard input and output: one message a line. Each request is answered when it
 * is done, in a thread of its own; only messages are written.
 */
public final class McpLines {
  /** Requests that are answered at one time; others wait, and their client's answers pass them. */
  private static final int AT_WORK_MAX = 64;

  /** Messages that are read and not done; after these nothing is read. */
  private static final int TAKEN_MAX = 1024;

  private static final long TAKEN_BYTES_MAX = 64L << 20;

  private final Answering answering;
  private final OutputStream out;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition fewer = lock.newCondition();
  private int taken;
  private long takenBytes;
  private int atWork;
  private boolean ended;
  private boolean stopped;
  private Optional<IOException> broken = Optional.empty();

  private final McpChannel beside =
      new McpChannel() {
        @Override
        public void send(JsonValue.Obj message) {
          write(Jcs.write(message));
        }

        @Override
        public boolean isOpen() {
          lock.lock();
          try {
            return broken.isEmpty();
          } finally {
            lock.unlock();
          }
        }

        /** After the end of the input what is at work is finished, and nobody answers. */
        @Override
        public boolean canAnswer() {
          lock.lock();
          try {
            return broken.isEmpty() && !ended;
          } finally {
            lock.unlock();
          }
        }
      };

  /** Answers messages. */
  @FunctionalInterface
  public interface Answering {
    /**
     * @param beside for messages before the response
     * @return one JSON-RPC response without a newline; empty for a message that needs none
     */
    Optional<byte[]> answer(byte[] line, McpChannel beside);
  }

  public McpLines(Answering answering, OutputStream out) {
    this.answering = answering;
    this.out = out;
  }

  /**
   * Answers until the input ends, and returns when all requests are answered.
   *
   * @throws IOException where input or output fails
   */
  public void run(InputStream in) throws IOException {
    try {
      for (Optional<byte[]> line = next(in); line.isPresent(); line = next(in)) {
        if (line.get().length > 0) {
          begin(line.get());
        }
      }
    } finally {
      awaitAll(false);
    }
    if (broken.isPresent()) {
      throw broken.get();
    }
  }

  /** Accepts no new messages, begins none that waits, and waits for requests at work. */
  public void finish() {
    awaitAll(true);
  }

  private void awaitAll(boolean stop) {
    lock.lock();
    try {
      ended = true;
      stopped |= stop;
      fewer.signalAll();
      while (taken > 0) {
        fewer.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void begin(byte[] line) {
    lock.lock();
    try {
      while (!ended && (taken >= TAKEN_MAX || takenBytes >= TAKEN_BYTES_MAX)) {
        fewer.awaitUninterruptibly();
      }
      if (ended) {
        return;
      }
      taken++;
      takenBytes += line.length;
    } finally {
      lock.unlock();
    }
    Thread.ofVirtual().name("writ-mcp").start(() -> work(line));
  }

  private void work(byte[] line) {
    try {
      if (!wantsAnAnswer(line)) {
        answering.answer(line, beside).ifPresent(this::write);
      } else if (isTurn()) {
        try {
          answering.answer(line, beside).ifPresent(this::write);
        } finally {
          turnEnds();
        }
      }
    } finally {
      lock.lock();
      try {
        taken--;
        takenBytes -= line.length;
        fewer.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Whether it is no message by which the client answers, or cancels: those end what is at work, so
   * that they wait for nothing.
   */
  private static boolean wantsAnAnswer(byte[] line) {
    try {
      return McpMessage.parse(line) instanceof McpMessage.Request;
    } catch (WritException e) {
      return true;
    }
  }

  /** Waits until fewer requests are at work; false where none is to begin any more. */
  private boolean isTurn() {
    lock.lock();
    try {
      while (!stopped && atWork >= AT_WORK_MAX) {
        fewer.awaitUninterruptibly();
      }
      if (!stopped) {
        atWork++;
      }
      return !stopped;
    } finally {
      lock.unlock();
    }
  }

  private void turnEnds() {
    lock.lock();
    try {
      atWork--;
      fewer.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void write(byte[] answer) {
    lock.lock();
    try {
      out.write(answer);
      out.write('\n');
      out.flush();
    } catch (IOException e) {
      broken = Optional.of(e); // the client is gone: its input has ended, too
    } finally {
      lock.unlock();
    }
  }

  /**
   * A line without its end; empty at the end of the input. A longer one is answered as too long.
   */
  private Optional<byte[]> next(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    long length = 0;
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        return length == 0 ? Optional.empty() : Optional.of(line.toByteArray());
      }
      length++;
      if (length <= McpMessage.BYTES_MAX + 1) {
        line.write(b);
      }
    }
    byte[] bytes = line.toByteArray();
    boolean returned = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
    return Optional.of(returned ? Arrays.copyOf(bytes, bytes.length - 1) : bytes);
  }

  /** The answer to a line that is no message. */
  public static Optional<byte[]> refusal(WritException e, byte[] line) {
    return Optional.of(McpSurface.error(e, line));
  }
}
