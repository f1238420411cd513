package dev.writ.gateway.http.server;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Connections;
import dev.writ.gateway.http.InvalidRequest;
import dev.writ.gateway.http.Reply;
import dev.writ.gateway.http.message.HttpAnswer;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.OptionalLong;
import java.util.function.BiConsumer;

/**
 * Reads the signed document of a request whose head does not say whose it is, so that it can be
 * sent to the cell of its tenant. Used on the event loop of the client's connection.
 */
public final class BodyRouting {
  private final Front front;
  private final Context context;
  private final HttpServerRequest request;
  private final Connections.Watch watch;
  private final BiConsumer<Integer, Buffer> found;
  private final Buffer body = Buffer.buffer();
  private final long bytesMax;
  private long timer;
  private boolean over;

  /**
   * @param found gets the cell and the whole body
   */
  BodyRouting(
      Front front,
      Context context,
      HttpServerRequest request,
      Connections.Watch watch,
      BiConsumer<Integer, Buffer> found) {
    this.front = front;
    this.context = context;
    this.request = request;
    this.watch = watch;
    this.found = found;
    this.bytesMax = front.parts().limits().unverifiedBytesMax();
  }

  public void begin() {
    watch.begin();
    request.response().exceptionHandler(_ -> {});
    request.response().closeHandler(_ -> gone());
    request.exceptionHandler(_ -> gone());
    OptionalLong declared = declared();
    if (declared.isPresent() && declared.getAsLong() > bytesMax) {
      tooLarge(declared.getAsLong() + " bytes");
      return;
    }
    timer =
        front
            .vertx()
            .setTimer(
                front.parts().limits().bodyWithin().toMillis(),
                _ ->
                    context.runOnContext(_ -> {
                      if (gone()) {
                        request.connection().close();
                      }
                    }));
    request.handler(this::take);
    request.endHandler(_ -> whole());
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      request.response().writeContinue();
    }
  }

  private OptionalLong declared() {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    return length != null && length.matches("[0-9]{1,18}")
        ? OptionalLong.of(Long.parseLong(length))
        : OptionalLong.empty();
  }

  private void take(Buffer piece) {
    if (over) {
      return;
    }
    if (body.length() + (long) piece.length() > bytesMax) {
      tooLarge("more than " + bytesMax + " bytes");
      return;
    }
    if (!front.mayGather(piece.length())) {
      if (end()) {
        front.gathered(body.length());
        refuse(new WritException(GatewayError.SERVER_BUSY, "too many documents are being read"));
      }
      return;
    }
    body.appendBuffer(piece);
  }

  private void tooLarge(String found) {
    if (end()) {
      front.gathered(body.length());
      refuse(
          new WritException(GatewayError.BODY_NEEDS_CREDENTIAL, found + ", at most " + bytesMax));
    }
  }

  private void whole() {
    if (over) {
      return;
    }
    byte[] bytes = body.getBytes();
    Thread.ofVirtual()
        .name("writ-route")
        .start(() -> {
          int cell = front.choice().ofBody(bytes);
          context.runOnContext(_ -> {
            if (end()) {
              found.accept(cell, body);
            }
          });
        });
  }

  /** The client is not there any more, or too slow. */
  private boolean gone() {
    boolean ends = end();
    if (ends) {
      front.gathered(body.length());
    }
    return ends;
  }

  /** Whether it ends by this call. The memory of the body goes with it. */
  private boolean end() {
    if (over) {
      return false;
    }
    over = true;
    front.vertx().cancelTimer(timer);
    watch.end();
    return true;
  }

  private void refuse(WritException why) {
    HttpAnswer answer =
        InvalidRequest.refused(front.parts(), why, Connections.address(request.connection()));
    byte[] bytes = ((HttpAnswer.Body.Bytes) answer.body()).bytes();
    if (request.response().closed() || request.response().headWritten()) {
      return;
    }
    Reply.head(answer, request.response(), front.clock().instant());
    request
        .response()
        .putHeader(HttpHeaders.CONNECTION, "close")
        .putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(bytes.length))
        .end(Buffer.buffer(bytes));
    watch.closeSoon();
  }
}
