package dev.writ.cli.term;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Remembers why writing failed, which PrintStream forgets: a full disk must not look like success.
 */
final class TerminalSink extends OutputStream {
  private final BufferedOutputStream to;
  private IOException failure;

  TerminalSink(OutputStream to) {
    this.to = new BufferedOutputStream(to, 1 << 16);
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    try {
      to.write(bytes, from, count);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  @Override
  public void flush() throws IOException {
    try {
      to.flush();
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  IOException failure() {
    boolean readerLeft = failure != null && "Broken pipe".equals(failure.getMessage());
    return readerLeft ? null : failure;
  }
}
