package dev.writ.tools.wasm;

import java.io.ByteArrayOutputStream;

/** Collects a guest's output, up to a limit. */
public final class Sink {
  private final long max;
  private final boolean fatal;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private long offered;

  private Sink(long max, boolean fatal) {
    this.max = max;
    this.fatal = fatal;
  }

  /** A sink that ends the guest when it overflows, keeping what fits. */
  public static Sink fatal(long maxBytes) {
    return new Sink(maxBytes, true);
  }

  /** A sink that drops what does not fit. */
  public static Sink dropping(long maxBytes) {
    return new Sink(maxBytes, false);
  }

  /**
   * @throws GuestEnd {@code output-limit} where this sink is fatal and overflows
   */
  public void write(byte[] data) {
    int room = (int) Math.min(data.length, Math.max(0, max - offered));
    bytes.write(data, 0, room);
    offered += data.length;
    if (fatal && offered > max) {
      throw GuestEnd.outputLimit(max);
    }
  }

  /** How many more bytes fit. */
  public long room() {
    return Math.max(0, max - offered);
  }

  public byte[] toByteArray() {
    return bytes.toByteArray();
  }

  /** Whether something was dropped. */
  public boolean truncated() {
    return offered > max;
  }
}
