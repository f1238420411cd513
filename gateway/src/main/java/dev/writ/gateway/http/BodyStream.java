package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A body as a stream for a blocking reader. The next piece is requested when the last one has been
 * read, so that memory holds one at most.
 */
final class BodyStream extends InputStream {
  private static final Object END = new Object();

  /** After the first piece's time. */
  static final int BYTES_PER_SECOND_MIN = 16 << 10;

  private final HttpServerRequest request;
  private final Context context;
  private final long bytesMax;
  private final Duration pieceWithin;
  // A piece, the end or a failure; and one more if the connection breaks after a piece.
  private final BlockingQueue<Object> pieces = new ArrayBlockingQueue<>(4);
  private final long begin = System.nanoTime();
  private byte[] piece = new byte[0];
  private int at;
  private long read;
  private boolean ended;

  /** Runs on the event loop, before any of the body was read. */
  BodyStream(HttpServerRequest request, Context context, long bytesMax, Duration pieceWithin) {
    this.request = request;
    this.context = context;
    this.bytesMax = bytesMax;
    this.pieceWithin = pieceWithin;
    request.pause();
    request.handler(buffer -> pieces.offer(buffer));
    request.endHandler(_ -> pieces.offer(END));
    request.exceptionHandler(e -> pieces.offer(new IOException("the client went away", e)));
    request.fetch(1);
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
      if (ended || !next()) {
        ended = true;
        return -1;
      }
    }
    int count = Math.min(length, piece.length - at);
    System.arraycopy(piece, at, into, offset, count);
    at += count;
    return count;
  }

  private boolean next() throws IOException {
    Object next;
    try {
      next = pieces.poll(pieceWithin.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    if (next == null) {
      throw new WritException(GatewayError.TOO_SLOW, "no piece of the body within " + pieceWithin);
    }
    if (next instanceof IOException broken) {
      throw broken;
    }
    if (next == END) {
      return false;
    }
    requirePace();
    piece = ((Buffer) next).getBytes();
    at = 0;
    read += piece.length;
    if (read > bytesMax) {
      throw new WritException(GatewayError.BODY_TOO_LARGE, "more than " + bytesMax + " bytes");
    }
    context.runOnContext(_ -> request.fetch(1));
    return true;
  }

  /** Requires a minimum rate: a sender of single bytes would hold a place for ever. */
  private void requirePace() {
    Duration allowed = pieceWithin.plusSeconds(read / BYTES_PER_SECOND_MIN);
    if (System.nanoTime() - begin > allowed.toNanos()) {
      throw new WritException(
          GatewayError.TOO_SLOW,
          read + " bytes in " + allowed + ", at least " + BYTES_PER_SECOND_MIN + " a second");
    }
  }

  /** Whether the body was read to its end, so that the connection can carry another request. */
  boolean isAtEnd() {
    return ended || pieces.peek() == END && at == piece.length;
  }
}
