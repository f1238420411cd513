package dev.writ.sandbox.remote;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The output of a process whose last bytes say that all is there, and its exit code: a NUL, a mark
 * that nobody else knows, the code and a line feed. A connection that is cut looks like the end of
 * a stream; without these bytes it is not one.
 */
final class MarkedOutput extends OutputStream {
  private final OutputStream to;
  private final byte[] mark;
  private final ByteArrayOutputStream held = new ByteArrayOutputStream();

  /**
   * @param mark in ASCII
   */
  MarkedOutput(OutputStream to, String mark) {
    this.to = to;
    this.mark = ("\0" + mark).getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  /** Passes on all that cannot be the mark. */
  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    held.write(bytes, offset, length);
    byte[] all = held.toByteArray();
    int from = 0;
    while (from < all.length && !mayBegin(all, from)) {
      from++;
    }
    to.write(all, 0, from);
    held.reset();
    held.write(all, from, all.length - from);
  }

  private boolean mayBegin(byte[] all, int from) {
    for (int i = 0; i < mark.length && from + i < all.length; i++) {
      if (all[from + i] != mark[i]) {
        return false;
      }
    }
    return true;
  }

  /** The exit code, once all is there; empty where something is missing. */
  OptionalInt code() {
    String rest = held.toString(StandardCharsets.ISO_8859_1);
    String expected = new String(mark, StandardCharsets.US_ASCII);
    Matcher matcher = Pattern.compile(Pattern.quote(expected) + "([0-9]{1,3})\n").matcher(rest);
    return matcher.matches()
        ? OptionalInt.of(Integer.parseInt(matcher.group(1)))
        : OptionalInt.empty();
  }
}
