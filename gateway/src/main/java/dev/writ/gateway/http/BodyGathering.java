package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.limit.HttpAdmission;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Collects a whole body on the event loop while a thread waits for it. Memory is reserved from the
 * call's admission before it is used.
 */
final class BodyGathering {
  private static final int FIRST_BYTES = 4096;
  private static final int PIECES_FREE = 1000;
  private static final int PIECE_BYTES_MIN = 64;

  private final HttpServerRequest request;
  private final HttpAdmission admission;
  private final long bytesMax;
  private final long sizeMax;
  private final GatewayError tooLarge;
  private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
  private byte[] bytes = new byte[0];
  private int length;
  private int pieces;

  /**
   * @param declared the length that the head states; negative if it states none
   * @param tooLarge the refusal of a body of more than {@code bytesMax}
   */
  BodyGathering(
      HttpServerRequest request,
      HttpAdmission admission,
      long declared,
      long bytesMax,
      GatewayError tooLarge) {
    this.request = request;
    this.admission = admission;
    this.bytesMax = bytesMax;
    this.sizeMax = declared < 0 ? bytesMax : Math.min(declared, bytesMax);
    this.tooLarge = tooLarge;
  }

  /** Runs on the event loop, for a request that was paused after its head. */
  void begin() {
    request.handler(this::take);
    request.endHandler(_ -> whole.complete(length == bytes.length ? bytes : null));
    request.exceptionHandler(_ -> gone());
    request.resume();
  }

  /** The client went away. */
  void gone() {
    whole.completeExceptionally(new IOException("the client went away"));
  }

  /** The call lost its place. */
  void refuse(WritException why) {
    whole.completeExceptionally(why);
  }

  private void take(Buffer piece) {
    if (whole.isDone()) {
      return; // data after a refusal is not kept
    }
    try {
      if (length + (long) piece.length() > bytesMax) {
        throw new WritException(tooLarge, "more than " + bytesMax + " bytes");
      }
      requireFewPieces();
      grow(length + piece.length());
    } catch (WritException e) {
      bytes = new byte[0];
      refuse(e);
      return;
    }
    piece.getBytes(bytes, length);
    length += piece.length();
  }

  /** Limits the number of pieces: each costs as much work as a thousand bytes. */
  private void requireFewPieces() {
    pieces++;
    if (pieces > PIECES_FREE + length / PIECE_BYTES_MIN) {
      throw new WritException(
          GatewayError.BODY_PIECES, pieces + " pieces for " + length + " bytes");
    }
  }

  private void grow(int needed) {
    if (needed > bytes.length) {
      long wanted = Math.max(FIRST_BYTES, Math.max(needed, 2L * bytes.length));
      int size = (int) Math.max(needed, Math.min(sizeMax, wanted));
      admission.reserve(size - bytes.length);
      bytes = Arrays.copyOf(bytes, size);
    }
  }

  /**
   * Waits for it.
   *
   * @throws WritException {@code GWY-017} where it did not come in time; what it was refused with
   * @throws IOException where the client went away
   */
  byte[] await(Duration within) throws IOException {
    try {
      byte[] exact = whole.get(within.toMillis(), TimeUnit.MILLISECONDS);
      return exact != null ? exact : Arrays.copyOf(bytes, length);
    } catch (TimeoutException e) {
      WritException slow =
          new WritException(GatewayError.TOO_SLOW, length + " bytes of the body within " + within);
      refuse(slow);
      throw slow;
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case WritException refused -> throw refused;
        case IOException gone -> throw gone;
        default -> throw new IllegalStateException(e.getCause());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
