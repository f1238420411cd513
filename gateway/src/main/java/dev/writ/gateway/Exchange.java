package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * One request and its answer. The head and a whole body are taken on the event loop, so that a slow
 * client holds no thread; the handler runs on a virtual thread.
 */
final class Exchange {
  private final ServerParts parts;
  private final Doors doors;
  private final Context context;
  private final HttpServerRequest request;
  private final Connections.Watch watch;
  private final Timer bodyTimer;
  private final Instant receivedAt;
  private final long begin = System.nanoTime();
  private final String remote;
  private final Headers headers;
  private final TraceContext trace;
  private Optional<Router.Found> found = Optional.empty();
  private SortedMap<String, List<String>> query = new TreeMap<>();
  private Optional<Caller> caller = Optional.empty();
  private Places.Place place = () -> {};
  private Stage stage = Stage.READING;
  private boolean ended;

  /** Whose it is: the event loop's while it is read, a virtual thread's from then on. */
  private enum Stage {
    READING,
    WORKING,
    REFUSED
  }

  Exchange(ServerParts parts, Vertx vertx, HttpServerRequest request, Connections.Watch watch) {
    this.parts = parts;
    this.doors = parts.doors().get();
    this.context = vertx.getOrCreateContext();
    this.request = request;
    this.watch = watch;
    this.bodyTimer = new Timer(vertx);
    this.receivedAt = parts.clock().instant();
    this.remote = Connections.address(request.connection());
    this.headers = Headers.of(request.headers());
    this.trace = TraceContext.of(headers).orElseGet(parts::newTrace);
  }

  /** Takes the head: everything that can be refused by it alone, is. */
  void begin() {
    watch.begin();
    request.response().endHandler(_ -> ended());
    request.response().closeHandler(_ -> ended());
    request.response().exceptionHandler(_ -> {});
    request.exceptionHandler(_ -> {}); // the response's close handler says it too
    try {
      String method = request.method().name();
      Optional<HttpAnswer> preflight = doors.origins().preflight(method, headers);
      if (preflight.isPresent()) {
        answerEarly(preflight.get(), Optional.empty());
        return;
      }
      Router.Found route = parts.router().find(method, path(), headers);
      found = Optional.of(route);
      query = Router.query(request.query());
      requireOneLength();
      if (route.route().access() != Route.Access.PUBLIC) {
        place = parts.places().take();
      }
      takeBody(route.route().body());
    } catch (WritException e) {
      refuseEarly(e);
    } catch (RuntimeException e) {
      refuseEarly(unforeseen(e));
    }
  }

  private String path() {
    String path = request.path();
    return path == null ? "" : path;
  }

  /** Both framings in one request are how requests are smuggled past a proxy (RFC 9112, 6.3). */
  private void requireOneLength() {
    if (headers.has("transfer-encoding") && headers.has("content-length")
        || headers.all("transfer-encoding").size() > 1
        || headers.all("host").size() != 1) {
      throw new WritException(
          GatewayError.REQUEST_MALFORMED, "one Host, and one way to tell the body's length");
    }
  }

  private void takeBody(Route.Body body) {
    long declared = declaredLength();
    long max =
        switch (body) {
          case Route.Body.None _ -> 0;
          case Route.Body.Whole whole -> whole.bytesMax();
          case Route.Body.Streamed streamed -> streamed.bytesMax();
        };
    if (body instanceof Route.Body.None && (declared > 0 || headers.has("transfer-encoding"))) {
      throw new WritException(GatewayError.BODY_UNEXPECTED, "");
    }
    if (declared > max) {
      throw new WritException(GatewayError.BODY_TOO_LARGE, declared + " bytes, at most " + max);
    }
    if (headers.all("expect").stream().anyMatch("100-continue"::equalsIgnoreCase)) {
      request.response().writeContinue();
    }
    if (body instanceof Route.Body.Streamed) {
      BodyStream stream = new BodyStream(request, context, max, parts.limits().bodyWithin());
      start(new byte[0], Optional.of(stream));
    } else {
      gather((int) max, (int) Math.max(0, declared));
    }
  }

  private long declaredLength() {
    List<String> lengths = headers.all("content-length");
    if (lengths.isEmpty()) {
      return -1;
    }
    String length = lengths.getFirst();
    if (lengths.size() > 1 || !length.matches("[0-9]{1,18}")) {
      throw new WritException(GatewayError.REQUEST_MALFORMED, "Content-Length is no length");
    }
    return Long.parseLong(length);
  }

  private void gather(int max, int expected) {
    ByteArrayOutputStream whole = new ByteArrayOutputStream(Math.min(expected, 1 << 16));
    bodyTimer.set(
        parts.limits().bodyWithin(),
        () ->
            refuseEarly(
                new WritException(
                    GatewayError.TOO_SLOW,
                    whole.size() + " bytes of the body within " + parts.limits().bodyWithin())));
    request.handler(buffer -> {
      if (stage != Stage.READING) {
        return;
      }
      if (whole.size() + buffer.length() > max) {
        refuseEarly(new WritException(GatewayError.BODY_TOO_LARGE, "more than " + max + " bytes"));
        return;
      }
      whole.writeBytes(buffer.getBytes());
    });
    request.endHandler(_ -> {
      bodyTimer.cancel();
      if (stage == Stage.READING) {
        start(whole.toByteArray(), Optional.empty());
      }
    });
  }

  /** The body is there, or comes as it is read: over to a thread that may block. */
  private void start(byte[] body, Optional<BodyStream> stream) {
    stage = Stage.WORKING;
    Thread.ofVirtual().name("writ-http").start(() -> work(body, stream));
  }

  private void work(byte[] body, Optional<BodyStream> stream) {
    parts.observer().begun();
    Router.Found route = found.orElseThrow();
    boolean holds = false;
    try {
      HttpAnswer answer;
      Optional<String> code = Optional.empty();
      try {
        List<X509Certificate> shown = certificates();
        doors.requireConnection(shown, watch);
        holds = true;
        if (route.route().access() == Route.Access.CALLER) {
          caller =
              Optional.of(
                  doors.authentication().caller(headers, shown.stream().findFirst(), receivedAt));
        }
        answer = handle(route, body, stream.map(InputStream.class::cast));
      } catch (WritException e) {
        code = Optional.of(e.code().code());
        answer = refusal(e);
      } catch (RuntimeException | StackOverflowError e) {
        WritException internal = unforeseen(e);
        code = Optional.of(internal.code().code());
        answer = refusal(internal);
      }
      answer = doors.origins().with(answer, headers);
      boolean goesOn = holds && (stream.isEmpty() || stream.get().isAtEnd());
      new Reply(parts, context, request.response(), isHead())
          .send(goesOn ? answer : answer.with("Connection", "close"));
      observe(answer, code);
    } finally {
      place.close();
    }
  }

  /** The client's own first, verified in the handshake; none where it showed none. */
  private List<X509Certificate> certificates() {
    SSLSession session = request.connection().sslSession();
    if (session == null) {
      return List.of();
    }
    try {
      return Arrays.stream(session.getPeerCertificates()).map(X509Certificate.class::cast).toList();
    } catch (SSLPeerUnverifiedException e) {
      return List.of();
    }
  }

  private HttpAnswer handle(Router.Found route, byte[] body, Optional<InputStream> stream) {
    HttpCall call =
        new HttpCall(
            request.method().name(),
            path(),
            route.values(),
            query,
            headers,
            body,
            stream,
            remote,
            caller,
            receivedAt,
            trace);
    if (caller.isEmpty()) {
      return route.route().handler().handle(call);
    }
    try (Places.Place _ = parts.places().takeFor(caller.get().tenant())) {
      return route.route().handler().handle(call);
    }
  }

  private boolean isHead() {
    return request.method().name().equals("HEAD");
  }

  private HttpAnswer refusal(WritException e) {
    int status = Problems.status(e.code());
    HttpAnswer answer =
        found
            .flatMap(route -> route.surface().refusal(status, e))
            .orElseGet(() -> Problems.answer(e, trace));
    return status == 401
        ? answer.with("WWW-Authenticate", doors.authentication().challenges())
        : answer;
  }

  private WritException unforeseen(Throwable e) {
    parts.failures().accept(trace, e);
    return new WritException(GatewayError.INTERNAL, "");
  }

  /** Refuses before the body was read; what is left of it would be taken for a next request. */
  private void refuseEarly(WritException e) {
    HttpAnswer answer = refusal(e);
    if (e.code() == GatewayError.METHOD) {
      answer = answer.with("Allow", e.found().substring("the path takes ".length()));
    }
    answerEarly(answer, Optional.of(e.code().code()));
  }

  private void answerEarly(HttpAnswer plain, Optional<String> code) {
    if (stage != Stage.READING) {
      return;
    }
    stage = Stage.REFUSED;
    bodyTimer.cancel();
    place.close();
    HttpAnswer answer = doors.origins().with(plain, headers);
    boolean bodyless = !headers.has("transfer-encoding") && !headers.has("content-length");
    HttpServerResponse response = request.response();
    if (!response.closed() && !response.headWritten()) {
      Reply.head(answer, response, parts.clock().instant());
      if (!bodyless) {
        response.putHeader(HttpHeaders.CONNECTION, "close");
      }
      byte[] bytes = ((HttpAnswer.Body.Bytes) answer.body()).bytes();
      response.putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(bytes.length));
      if (isHead()) {
        response.end();
      } else {
        response.end(Buffer.buffer(bytes));
      }
    }
    observe(answer, code);
  }

  /** The answer is out, or the client has gone, with or without having sent its body. */
  private void ended() {
    bodyTimer.cancel();
    if (!ended) {
      ended = true;
      watch.end();
      if (stage == Stage.READING) {
        stage = Stage.REFUSED;
        place.close();
      }
    }
  }

  private void observe(HttpAnswer answer, Optional<String> code) {
    parts
        .observer()
        .finished(
            new Observer.Finished(
                found.map(f -> f.surface().name()).orElse("server"),
                request.method().name(),
                found.map(f -> f.route().path()).orElse("-"),
                answer.status(),
                code,
                Duration.ofNanos(System.nanoTime() - begin),
                answer.body() instanceof HttpAnswer.Body.Bytes b ? b.bytes().length : -1,
                remote,
                caller,
                trace,
                header(answer, "Writ-Request"),
                header(answer, "Writ-Receipt")));
  }

  private static Optional<String> header(HttpAnswer answer, String name) {
    return answer.headers().stream()
        .filter(h -> h.getKey().equals(name))
        .map(java.util.Map.Entry::getValue)
        .findFirst();
  }
}
