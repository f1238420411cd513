package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.TenantElsewhere;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.limit.HttpAdmission;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.message.TraceContext;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.InputStream;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * One request and its answer. The head is checked on the event loop. Then a virtual thread
 * authenticates the caller, takes a place, and only then reads the body, which the event loop
 * collects, so that a slow client does not make others wait.
 */
public final class Exchange {
  /** Answers up to this size take no memory from the limits: every client is told what is wrong. */
  private static final int ANSWER_BYTES_FREE = 16 << 10;

  private final ServerParts parts;
  private final IngressPolicy doors;
  private final Context context;
  private final HttpServerRequest request;
  private final Connections.Watch watch;
  private final Client client;
  private final Runnable arrived;
  private final Instant receivedAt;
  private final long begin = System.nanoTime();
  private final String remote;
  private final Headers headers;
  private final TraceContext trace;
  private final HttpAdmission admission;
  private Optional<Router.Found> found = Optional.empty();
  private SortedMap<String, List<String>> query = new TreeMap<>();
  private long declared;
  private Optional<Caller> caller = Optional.empty();
  private volatile Optional<BodyGathering> gathering = Optional.empty();
  private Optional<BodyStream> stream = Optional.empty();
  private boolean bodyTaken;
  private boolean closes;
  private boolean ended; // on the event loop

  /**
   * @param client whose request it is
   * @param arrived called once, when it has a place or is refused one
   */
  public Exchange(
      ServerParts parts,
      Vertx vertx,
      HttpServerRequest request,
      Connections.Watch watch,
      Client client,
      Runnable arrived) {
    this.client = client;
    this.arrived = arrived;
    this.parts = parts;
    this.doors = parts.doors().get();
    this.context = vertx.getOrCreateContext();
    this.request = request;
    this.watch = watch;
    this.receivedAt = parts.clock().instant();
    this.remote = client.address();
    this.headers = Headers.of(request.headers());
    this.trace = parts.trace(headers);
    this.admission = new HttpAdmission(parts.places(), this::evicted);
  }

  /** Checks the head, and refuses what can be refused without authentication. */
  public void begin() {
    watch.begin();
    request.response().endHandler(_ -> ended());
    request.response().closeHandler(_ -> ended());
    request.response().exceptionHandler(_ -> {});
    request.exceptionHandler(_ -> {}); // the close handler of the response is called, too
    try {
      requireFields();
      parts.hosts().require(headers);
      String method = request.method().name();
      Optional<HttpAnswer> preflight = doors.origins().preflight(method, headers);
      if (preflight.isPresent()) {
        arrived.run();
        answerEarly(preflight.get(), Optional.empty());
        return;
      }
      requireOneLength();
      Router.Found route = parts.router().find(method, path(), headers);
      found = Optional.of(route);
      query = Router.query(request.query());
      KnownQueries.require(route.route(), query);
      requireBodyOf(route.route());
      route.route().headCheck().require(headers, receivedAt);
    } catch (WritException e) {
      arrived.run();
      refuseEarly(e);
      return;
    } catch (RuntimeException e) {
      arrived.run();
      refuseEarly(unforeseen(e));
      return;
    }
    if (hasBody()) {
      request.pause();
    } else {
      bodyTaken = true;
    }
    Thread.ofVirtual().name("writ-http").start(this::work);
  }

  private String path() {
    String path = request.path();
    return path == null ? "" : path;
  }

  private void requireFields() {
    int fields = request.headers().entries().size();
    if (fields > parts.limits().headFieldsMax()) {
      throw new WritException(
          GatewayError.HEAD_TOO_LARGE,
          fields + " header fields, at most " + parts.limits().headFieldsMax());
    }
  }

  /**
   * Refuses a request with both framings, which are used to smuggle requests past a proxy (RFC
   * 9112, 6.3).
   */
  private void requireOneLength() {
    if (headers.has("transfer-encoding") && headers.has("content-length")
        || headers.all("transfer-encoding").size() > 1
        || headers.all("host").size() != 1) {
      throw new WritException(
          GatewayError.REQUEST_MALFORMED, "one Host, and one way to tell the body's length");
    }
  }

  private boolean hasBody() {
    return declared > 0 || headers.has("transfer-encoding");
  }

  private void requireBodyOf(Route route) {
    declared = declaredLength();
    if (route.body() instanceof Route.Body.None && hasBody()) {
      throw new WritException(GatewayError.BODY_UNEXPECTED, "");
    }
    if (declared > bytesMax(route)) {
      throw new WritException(
          GatewayError.BODY_TOO_LARGE, declared + " bytes, at most " + bytesMax(route));
    }
  }

  private static long bytesMax(Route route) {
    return switch (route.body()) {
      case Route.Body.None _ -> 0;
      case Route.Body.Whole whole -> whole.bytesMax();
      case Route.Body.Streamed streamed -> streamed.bytesMax();
    };
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

  private void work() {
    parts.observer().begun(trace);
    boolean holds = false;
    try (admission) {
      HttpAnswer answer;
      Optional<String> code = Optional.empty();
      try {
        try {
          doors.requireConnection(client.chain(), client.letIn());
          holds = true;
          enter(client.chain().stream().findFirst());
        } finally {
          arrived.run();
        }
        answer = counted(handle());
      } catch (TenantElsewhere e) {
        WritException told = isBeingLearnt(e) ? onItsWay(e) : e;
        code = Optional.of(told.code().code());
        answer = refusal(told);
      } catch (WritException e) {
        code = Optional.of(e.code().code());
        answer = refusal(e);
      } catch (RuntimeException | StackOverflowError e) {
        WritException internal = unforeseen(e);
        code = Optional.of(internal.code().code());
        answer = refusal(internal);
      }
      answer = traced(doors.origins().with(withFormerCells(answer), headers));
      boolean goesOn = holds && (bodyTaken || stream.filter(BodyStream::isAtEnd).isPresent());
      if (!goesOn) {
        onLoop(this::discardBody);
      }
      if (answer.body() instanceof HttpAnswer.Body.Bytes) {
        admission.answered();
      }
      new Reply(
              parts,
              context,
              request.response(),
              isHead(),
              this::isLetIn,
              failure -> parts.failures().accept(trace, failure))
          .send(
              goesOn && !endsWithConnection(answer) ? answer : answer.with("Connection", "close"));
      observe(answer, code);
      if (endsWithConnection(answer)) {
        onLoop(() -> request.connection().close());
      }
    } catch (IOException e) {
      // the client went away while sending the body: no answer
    }
  }

  /** HTTP/1.0 has no chunks: what has no length is over when its connection is. */
  private boolean endsWithConnection(HttpAnswer answer) {
    return request.version() == HttpVersion.HTTP_1_0
        && answer.body() instanceof HttpAnswer.Body.Stream stream
        && stream.length() < 0;
  }

  /** Authenticates the caller and takes a place; none of the body is kept before that. */
  private void enter(Optional<X509Certificate> certificate) {
    Route route = found.orElseThrow().route();
    switch (route.access()) {
      case PUBLIC -> {
        watch.open();
        parts.places().open(admission, remote);
      }
      case CALLER ->
          admit(
              doors
                  .authentication()
                  .caller(request.method().name(), headers, certificate, receivedAt));
      case DOCUMENT -> {
        Optional<Caller> shown =
            doors
                .authentication()
                .callerIfShown(request.method().name(), headers, certificate, receivedAt);
        if (shown.isPresent()) {
          admit(shown.get());
        } else {
          requireSmall();
          parts.places().unverified(admission, "documents", remote);
        }
      }
      case SURFACE ->
          parts.places().unverified(admission, found.orElseThrow().surface().name(), remote);
    }
  }

  /** Whether its caller is let in by what is in force now, too: an answer may stand for long. */
  private boolean isLetIn() {
    return caller.isEmpty()
        || parts
            .doors()
            .get()
            .keeps(caller.get(), client.chain(), client.letIn(), parts.clock().instant());
  }

  private void admit(Caller who) {
    caller = Optional.of(who);
    admission.admit(who.tenant(), who.credential());
    watch.known(who);
  }

  private void requireSmall() {
    if (declared > parts.limits().unverifiedBytesMax()) {
      throw new WritException(
          GatewayError.BODY_NEEDS_CREDENTIAL,
          declared + " bytes, at most " + parts.limits().unverifiedBytesMax());
    }
  }

  /**
   * Reads and discards the rest of the body for a moment, so that a client that is still sending
   * gets its answer.
   */
  private boolean discardBody() {
    closes = true;
    if (!request.isEnded()) {
      request.handler(_ -> {});
      request.resume();
    }
    return true;
  }

  private void evicted() {
    gathering.ifPresent(g -> g.refuse(admission.over().orElseThrow()));
  }

  private HttpAnswer handle() throws IOException {
    Router.Found route = found.orElseThrow();
    byte[] body = new byte[0];
    if (hasBody()) {
      if (headers.all("expect").stream().anyMatch("100-continue"::equalsIgnoreCase)) {
        onLoop(() -> request.response().writeContinue());
      }
      if (route.route().body() instanceof Route.Body.Streamed streamed) {
        stream = Optional.of(onLoop(() -> streamOf(streamed)));
      } else {
        body = gathered(route.route());
      }
    }
    HttpCall call =
        new HttpCall(
            request.method().name(),
            path(),
            route.values(),
            query,
            headers,
            body,
            content(route.route()),
            remote,
            caller,
            admission,
            receivedAt,
            trace);
    return route.route().handler().handle(call);
  }

  private BodyStream streamOf(Route.Body.Streamed streamed) {
    BodyStream body =
        new BodyStream(request, context, streamed.bytesMax(), parts.limits().bodyWithin());
    if (ended) {
      body.gone(new IOException("it ended before its body was asked for"));
    }
    return body;
  }

  private Optional<InputStream> content(Route route) {
    return route.body() instanceof Route.Body.Streamed
        ? Optional.of(stream.map(InputStream.class::cast).orElseGet(InputStream::nullInputStream))
        : Optional.empty();
  }

  private byte[] gathered(Route route) throws IOException {
    boolean unverified = caller.isEmpty() && route.access() == Route.Access.DOCUMENT;
    long max = bytesMax(route);
    boolean less = unverified && parts.limits().unverifiedBytesMax() < max;
    BodyGathering body =
        new BodyGathering(
            request,
            admission,
            declared,
            less ? parts.limits().unverifiedBytesMax() : max,
            less ? GatewayError.BODY_NEEDS_CREDENTIAL : GatewayError.BODY_TOO_LARGE);
    gathering = Optional.of(body);
    admission.over().ifPresent(body::refuse);
    context.runOnContext(_ -> {
      if (ended) {
        body.gone(); // before anybody listened
      } else {
        body.begin();
      }
    });
    byte[] whole = body.await(parts.limits().bodyWithin());
    bodyTaken = true;
    if (route.access() != Route.Access.SURFACE) {
      admission.weigh(whole);
    }
    return whole;
  }

  private <T> T onLoop(Supplier<T> work) throws IOException {
    CompletableFuture<T> done = new CompletableFuture<>();
    try {
      context.runOnContext(_ -> {
        try {
          done.complete(work.get());
        } catch (RuntimeException e) {
          done.completeExceptionally(e);
        }
      });
      return done.get();
    } catch (RejectedExecutionException e) {
      throw new IOException("the server has closed", e);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** W3C Trace Context, level 2: tells the caller the span of its call. */
  private HttpAnswer traced(HttpAnswer answer) {
    return answer.with("traceresponse", trace.traceparent());
  }

  /** Tells an authenticated reader where else there may be something of its tenant. */
  private HttpAnswer withFormerCells(HttpAnswer answer) {
    boolean reads = isHead() || request.method().name().equals("GET");
    boolean isTold = reads && (answer.status() < 300 || answer.status() == 404);
    FormerCellList former =
        caller
            .filter(_ -> isTold)
            .map(who -> parts.cells().former(who.tenant()))
            .orElse(FormerCellList.NONE);
    return former.isEmpty() ? answer : answer.with(FormerCellList.HEADER, former.toString());
  }

  private boolean isHead() {
    return request.method().name().equals("HEAD");
  }

  /**
   * Counts an answer, which is held until the client has read it: it takes memory, or a place of
   * streams.
   */
  private HttpAnswer counted(HttpAnswer answer) {
    try {
      switch (answer.body()) {
        case HttpAnswer.Body.Stream _ -> admission.stream();
        case HttpAnswer.Body.Bytes whole -> {
          if (whole.bytes().length > ANSWER_BYTES_FREE) {
            admission.reserve(whole.bytes().length);
          }
        }
      }
      return answer;
    } catch (WritException e) {
      if (answer.body() instanceof HttpAnswer.Body.Stream unsent) {
        unsent.release().run();
      }
      return withIds(refusal(e), answer);
    }
  }

  /**
   * Adds the ids of the answer to a refusal: the effect has happened, and the client finds the
   * outcome by them.
   */
  private static HttpAnswer withIds(HttpAnswer refusal, HttpAnswer answer) {
    HttpAnswer told = refusal;
    for (Map.Entry<String, String> header : answer.headers()) {
      if (header.getKey().startsWith("Writ-")) {
        told = told.with(header.getKey(), header.getValue());
      }
    }
    return told;
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

  /**
   * Whether a gateway has sent a request to the tenant's cell, and that cell knows another one: one
   * of the two has not seen yet where operators have put the tenant. A caller that has named the
   * cell, or has a credential of another tenant, is told at once that it is the wrong one.
   */
  private boolean isBeingLearnt(TenantElsewhere e) {
    return caller.filter(who -> !who.tenant().equals(e.tenant())).isEmpty()
        && parts.cells().isByTenant(request.method().name(), path(), headers, client, receivedAt);
  }

  private static WritException onItsWay(TenantElsewhere e) {
    return new WritException(ExecutorError.TENANT_ON_ITS_WAY, e.found(), e);
  }

  private WritException unforeseen(Throwable e) {
    parts.failures().accept(trace, e);
    return new WritException(GatewayError.INTERNAL, "");
  }

  /**
   * Refuses before the body was read; the connection closes, since the rest of the body would be
   * taken for the next request.
   */
  private void refuseEarly(WritException e) {
    HttpAnswer answer = refusal(e);
    if (e.code() == GatewayError.METHOD) {
      answer = answer.with("Allow", e.found().substring("the path takes ".length()));
    }
    answerEarly(answer, Optional.of(e.code().code()));
  }

  private void answerEarly(HttpAnswer plain, Optional<String> code) {
    HttpAnswer answer = traced(doors.origins().with(plain, headers));
    boolean bodyless = !headers.has("transfer-encoding") && !headers.has("content-length");
    HttpServerResponse response = request.response();
    if (!response.closed() && !response.headWritten()) {
      Reply.head(answer, response, parts.clock().instant());
      if (!bodyless) {
        closes = true;
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

  /** The answer is sent or the client is gone, whether its body was read or not. */
  private void ended() {
    if (!ended) {
      ended = true;
      watch.end();
      if (closes) {
        watch.closeSoon();
      }
      gathering.ifPresent(BodyGathering::gone);
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
                begin,
                System.nanoTime(),
                answer.body() instanceof HttpAnswer.Body.Bytes b ? b.bytes().length : -1,
                remote,
                caller,
                trace,
                header(answer, "Writ-Request"),
                header(answer, "Writ-Receipt"),
                answer.states()));
  }

  private static Optional<String> header(HttpAnswer answer, String name) {
    return answer.headers().stream()
        .filter(h -> h.getKey().equals(name))
        .map(Map.Entry::getValue)
        .findFirst();
  }
}
