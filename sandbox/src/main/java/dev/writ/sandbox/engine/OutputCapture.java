package dev.writ.sandbox.engine;

import dev.writ.sandbox.Captured;
import dev.writ.sandbox.OutputListener;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/** One output stream of a command: keeps bytes up to a limit, and counts the rest. */
public final class OutputCapture extends OutputStream {
  private final OutputListener.Stream stream;
  private final OutputListener listener;
  private final AtomicLong left;
  private final Runnable overflow;
  private final boolean talks;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private long total;
  private RuntimeException listenerFailed;

  /**
   * @param left how many bytes of both streams may still be kept
   * @param overflow called when there were more
   */
  public OutputCapture(
      OutputListener.Stream stream, OutputListener listener, AtomicLong left, Runnable overflow) {
    this(stream, listener, left, overflow, false);
  }

  private OutputCapture(
      OutputListener.Stream stream,
      OutputListener listener,
      AtomicLong left,
      Runnable overflow,
      boolean talks) {
    this.stream = stream;
    this.listener = listener;
    this.left = left;
    this.overflow = overflow;
    this.talks = talks;
  }

  /**
   * One of a conversation, whose listener gets everything.
   *
   * @param keep how many bytes are kept all the same
   */
  static OutputCapture told(OutputListener.Stream stream, OutputListener listener, long keep) {
    return new OutputCapture(stream, listener, new AtomicLong(keep), () -> {}, true);
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    long before = left.getAndUpdate(l -> Math.max(0, l - length));
    int keep = (int) Math.min(length, before);
    synchronized (this) {
      total += length;
      kept.write(bytes, offset, keep);
    }
    int tell = talks ? length : keep;
    if (tell > 0 && listenerFailed == null) {
      try {
        listener.output(stream, Arrays.copyOfRange(bytes, offset, offset + tell));
      } catch (RuntimeException e) {
        listenerFailed = e; // a listener's failure must not stop the reading
      }
    }
    if (keep < length) {
      overflow.run();
    }
  }

  /** How many bytes there were so far. */
  public synchronized long total() {
    return total;
  }

  /** What was kept. */
  public synchronized Captured captured() {
    return new Captured(kept.toByteArray(), total);
  }
}
