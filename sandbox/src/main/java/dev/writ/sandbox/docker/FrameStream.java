package dev.writ.sandbox.docker;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One of the streams that arrive as frames: one thread adds pieces, another reads them. */
final class FrameStream extends InputStream {
  private static final int PIECES = 16;
  private static final byte[] END = new byte[0];

  private final ArrayBlockingQueue<byte[]> pieces = new ArrayBlockingQueue<>(PIECES);
  private byte[] piece = new byte[0];
  private int at;
  private boolean ended;
  private volatile boolean closed;

  /** Waits while the reader is slower; drops pieces after a close. */
  void put(byte[] bytes) throws InterruptedException {
    while (bytes.length > 0 && !closed) {
      if (pieces.offer(bytes, 100, TimeUnit.MILLISECONDS)) {
        return;
      }
    }
  }

  void end() throws InterruptedException {
    while (!closed && !pieces.offer(END, 100, TimeUnit.MILLISECONDS)) {
      // the reader is behind
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (at == piece.length) {
      if (ended) {
        return -1;
      }
      try {
        piece = pieces.take();
        at = 0;
        ended = piece == END;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }
    int n = Math.min(length, piece.length - at);
    System.arraycopy(piece, at, into, offset, n);
    at += n;
    return n;
  }

  @Override
  public void close() {
    closed = true;
  }
}
