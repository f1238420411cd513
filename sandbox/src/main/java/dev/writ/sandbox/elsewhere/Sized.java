package dev.writ.sandbox.elsewhere;

import java.io.IOException;
import java.io.OutputStream;
import java.util.OptionalLong;

/** A number in a line of its own, and behind it the bytes that are passed on. */
final class Sized extends OutputStream {
  private static final int DIGITS_MAX = 18;

  private final OutputStream rest;
  private final StringBuilder digits = new StringBuilder();
  private boolean isWhole;

  Sized(OutputStream rest) {
    this.rest = rest;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
    int at = offset;
    int end = offset + length;
    while (!isWhole && at < end) {
      char c = (char) bytes[at];
      at++;
      if (c == '\n') {
        isWhole = true;
      } else if (c >= '0' && c <= '9' && digits.length() < DIGITS_MAX) {
        digits.append(c);
      } else {
        throw new IOException("no size comes first");
      }
    }
    rest.write(bytes, at, end - at);
  }

  /** The number; empty where it did not come as a whole. */
  synchronized OptionalLong size() {
    return isWhole && !digits.isEmpty()
        ? OptionalLong.of(Long.parseLong(digits.toString()))
        : OptionalLong.empty();
  }

  @Override
  public void close() throws IOException {
    rest.close();
  }
}
