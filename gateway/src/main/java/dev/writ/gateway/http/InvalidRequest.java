package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.message.TraceContext;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Optional;

/** Answers input that is not valid HTTP, and closes the connection: nothing after it is read. */
public final class InvalidRequest {
  private final ServerParts parts;
  private final HttpServerRequest request;

  InvalidRequest(ServerParts parts, HttpServerRequest request) {
    this.parts = parts;
    this.request = request;
  }

  void answer() {
    Throwable cause = request.decoderResult().cause();
    boolean tooLong =
        cause instanceof TooLongHttpHeaderException || cause instanceof TooLongHttpLineException;
    WritException refused =
        tooLong
            ? new WritException(
                GatewayError.HEAD_TOO_LARGE,
                "at most "
                    + parts.limits().uriBytesMax()
                    + " bytes of address and "
                    + parts.limits().headBytesMax()
                    + " of headers")
            : new WritException(GatewayError.REQUEST_MALFORMED, "");
    HttpAnswer answer = refused(parts, refused, Connections.address(request.connection()));
    var response = request.response();
    if (!response.closed() && !response.headWritten()) {
      byte[] bytes = ((HttpAnswer.Body.Bytes) answer.body()).bytes();
      Reply.head(answer, response, parts.clock().instant());
      response.putHeader(HttpHeaders.CONNECTION, "close");
      response.putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(bytes.length));
      response.end(Buffer.buffer(bytes)).onComplete(_ -> request.connection().close());
    }
  }

  /** Makes the answer and reports the refusal to the log. */
  public static HttpAnswer refused(ServerParts parts, WritException why, String remote) {
    TraceContext trace = parts.newTrace();
    HttpAnswer answer = Problems.answer(why, trace);
    long now = System.nanoTime();
    parts
        .observer()
        .finished(
            new Observer.Finished(
                "server",
                "-",
                "-",
                answer.status(),
                Optional.of(why.code().code()),
                now,
                now,
                0,
                remote,
                Optional.empty(),
                trace,
                Optional.empty(),
                Optional.empty(),
                List.of()));
    return answer;
  }
}
