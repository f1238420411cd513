package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.message.HttpAnswer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Sends an answer from a thread that may block, no faster than the client reads it. */
public final class Reply {
  private static final int PIECE_BYTES = 1 << 16;

  /**
   * The slowest rate at which a client may read, after the time for one piece; a slower one would
   * hold its place for too long.
   */
  private static final int BYTES_PER_SECOND_MIN = 16 << 10;

  /** RFC 9110, 5.6.7: two digits of the day, which the JDK's form of RFC 1123 does not have. */
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private final ServerParts parts;
  private final Context context;
  private final HttpServerResponse response;
  private final boolean headOnly;
  private final BooleanSupplier isLetIn;
  private final Consumer<RuntimeException> failures;

  /**
   * @param isLetIn whether its reader would be let in now
   * @param failures is told of an unexpected exception in a stream, which can have no other answer
   */
  Reply(
      ServerParts parts,
      Context context,
      HttpServerResponse response,
      boolean headOnly,
      BooleanSupplier isLetIn,
      Consumer<RuntimeException> failures) {
    this.parts = parts;
    this.context = context;
    this.response = response;
    this.headOnly = headOnly;
    this.isLetIn = isLetIn;
    this.failures = failures;
  }

  /** Returns when the answer is sent or the client has gone. */
  void send(HttpAnswer answer) {
    try {
      switch (answer.body()) {
        case HttpAnswer.Body.Bytes bytes -> sendBytes(answer, bytes.bytes());
        case HttpAnswer.Body.Stream stream -> sendStream(answer, stream);
      }
    } catch (IOException e) {
      reset();
    } finally {
      if (answer.body() instanceof HttpAnswer.Body.Stream stream) {
        stream.release().run();
      }
    }
  }

  private void reset() {
    try {
      onLoop(response::reset);
    } catch (IOException e) {
      // the connections are closed already
    }
  }

  private void sendBytes(HttpAnswer answer, byte[] bytes) throws IOException {
    if (bytes.length > PIECE_BYTES && !headOnly) {
      HttpAnswer.Writer writer =
          sink -> {
            for (int from = 0; from < bytes.length; from += PIECE_BYTES) {
              int to = Math.min(bytes.length, from + PIECE_BYTES);
              sink.write(Arrays.copyOfRange(bytes, from, to));
            }
          };
      sendStream(answer, new HttpAnswer.Body.Stream(bytes.length, writer));
      return;
    }
    await(() -> {
      head(answer, response, parts.clock().instant());
      response.putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(bytes.length));
      return headOnly ? response.end() : response.end(Buffer.buffer(bytes));
    });
  }

  private void sendStream(HttpAnswer answer, HttpAnswer.Body.Stream stream) throws IOException {
    await(() -> {
      head(answer, response, parts.clock().instant());
      if (stream.length() >= 0) {
        response.putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(stream.length()));
      } else {
        response.setChunked(true); // but in HTTP/1.0
      }
      if (headOnly) {
        return response.end();
      }
      // In HTTP/1.0 the head alone would name chunks all the same; one with a piece does not.
      boolean mayStandAlone = stream.length() >= 0 || response.isChunked();
      return mayStandAlone ? response.writeHead() : response.write(Buffer.buffer());
    });
    if (headOnly) {
      return;
    }
    try {
      stream.writer().write(new PacedSink(stream.length() >= 0));
    } catch (WritException | UncheckedIOException e) { // refused, or the client has gone
      throw new IOException("the stream broke off", e);
    } catch (RuntimeException e) {
      failures.accept(e);
      throw new IOException("the stream broke off", e);
    }
    await(response::end);
  }

  /** Each piece waits until the one before it is sent. */
  private final class PacedSink implements HttpAnswer.Sink {
    private final boolean hasEnd;
    private final long begin = System.nanoTime();
    private long sent;

    /**
     * @param hasEnd whether the stream has an end, so that the reading rate of the client can be
     *     required; live events come at any time
     */
    PacedSink(boolean hasEnd) {
      this.hasEnd = hasEnd;
    }

    @Override
    public void write(byte[] bytes) throws IOException {
      await(() -> response.write(Buffer.buffer(bytes)));
      sent += bytes.length;
      Duration allowed = parts.limits().writeWithin().plusSeconds(sent / BYTES_PER_SECOND_MIN);
      if (hasEnd && System.nanoTime() - begin > allowed.toNanos()) {
        throw new IOException("the client reads too slowly");
      }
    }

    @Override
    public boolean isClosing() {
      return isGone() || parts.places().isDraining() || !isLetIn.getAsBoolean();
    }

    @Override
    public boolean isGone() {
      return response.closed();
    }

    @Override
    public void failed(RuntimeException failure) {
      failures.accept(failure);
    }
  }

  public static void head(HttpAnswer answer, HttpServerResponse response, Instant now) {
    response.setStatusCode(answer.status());
    response.putHeader(HttpHeaders.DATE, date(now));
    response.putHeader("X-Content-Type-Options", "nosniff");
    for (Map.Entry<String, String> header : answer.headers()) {
      response.headers().add(header.getKey(), header.getValue());
    }
  }

  static String date(Instant now) {
    return DATE.format(now);
  }

  /**
   * @throws IOException if the server has closed its event loops
   */
  private void onLoop(Runnable step) throws IOException {
    try {
      context.runOnContext(_ -> step.run());
    } catch (RejectedExecutionException e) {
      throw new IOException("the server has closed", e);
    }
  }

  private void await(Supplier<Future<Void>> step) throws IOException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    onLoop(() -> {
      try {
        if (response.closed()) {
          done.completeExceptionally(new IOException("the client went away"));
          return;
        }
        step.get()
            .onComplete(result -> {
              if (result.succeeded()) {
                done.complete(null);
              } else {
                done.completeExceptionally(result.cause());
              }
            });
      } catch (RuntimeException e) {
        done.completeExceptionally(e);
      }
    });
    try {
      done.get(parts.limits().writeWithin().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("the client does not read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException(e));
    }
  }
}
