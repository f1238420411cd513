package dev.writ.conform.adapter;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Lines of bytes, each ended by a line feed; a last one that is not ended counts too. A line that
 * is too long is read to its end and reported, so that the lines after it can be read.
 */
public final class AdapterLines {

  /** One line without its end; empty bytes where it was too long. */
  public record Line(byte[] bytes, boolean tooLong) {}

  private final InputStream in;
  private final int bytesMax;
  private final byte[] buffer = new byte[1 << 16];
  private int at;
  private int end;

  public AdapterLines(InputStream in, int bytesMax) {
    this.in = in;
    this.bytesMax = bytesMax;
  }

  /** The next line; null at the end. */
  public Line next() throws IOException {
    ByteArrayOutputStream begun = null;
    boolean tooLong = false;
    while (true) {
      if (at == end) {
        end = Math.max(in.read(buffer), 0);
        at = 0;
        if (end == 0) {
          return begun == null && !tooLong ? null : line(begun, tooLong);
        }
      }
      int from = at;
      while (at < end && buffer[at] != '\n') {
        at++;
      }
      boolean ended = at < end;
      int length = at - from;
      if (ended) {
        at++;
        if (begun == null && !tooLong) {
          return length > bytesMax
              ? new Line(new byte[0], true)
              : new Line(Arrays.copyOfRange(buffer, from, from + length), false);
        }
      }
      tooLong |= (begun == null ? 0 : begun.size()) + (long) length > bytesMax;
      if (tooLong) {
        begun = null;
      } else {
        begun = begun == null ? new ByteArrayOutputStream(2 * length) : begun;
        begun.write(buffer, from, length);
      }
      if (ended) {
        return line(begun, tooLong);
      }
    }
  }

  private static Line line(ByteArrayOutputStream bytes, boolean tooLong) {
    return new Line(tooLong || bytes == null ? new byte[0] : bytes.toByteArray(), tooLong);
  }

  /** Whether bytes can be read without blocking. */
  boolean hasMoreAtHand() throws IOException {
    return at < end || in.available() > 0;
  }
}
