package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.RunBundle;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The Model Context Protocol over Streamable HTTP: spec/surface-mcp.md. */
public final class McpSurface implements Surface {
  public static final String NAME = "mcp";
  public static final String PATH = "/mcp";
  public static final String SESSION = "Mcp-Session-Id";
  public static final String VERSION = "MCP-Protocol-Version";

  static final String INITIALIZE = McpSchema.METHOD_INITIALIZE;

  /** A notification of a client: it wants no answer to a call any more. */
  public static final String CANCELLED = "notifications/cancelled";

  /** Codes of version 2026-07-28 that the SDK does not know. */
  private static final int HEADER_MISMATCH = -32020;

  private static final int UNSUPPORTED_VERSION = -32022;

  private final Pipeline pipeline;
  private final McpEndpoint endpoint;
  private final McpSettings settings;
  private final McpSessions sessions;
  private final PausedCalls paused;
  private final boolean onLoopback;
  private final SecureRandom random;

  /**
   * @param onLoopback whether the server listens on loopback, where it must be called by a loopback
   *     name
   * @param version this program's version, for clients
   */
  public McpSurface(
      Pipeline pipeline,
      McpTools tools,
      RunBundle bundles,
      McpSettings settings,
      boolean onLoopback,
      String version,
      SecureRandom random) {
    this.pipeline = pipeline;
    this.settings = settings;
    this.onLoopback = onLoopback;
    this.random = random;
    this.sessions = new McpSessions(random, settings.sessionIdle());
    this.paused = new PausedCalls(random, pipeline::isDraining, version, pipeline::inAnotherThread);
    this.endpoint =
        new McpEndpoint(
            new McpDependencies(
                pipeline.kernel(),
                tools,
                bundles,
                new VouchingSubmitter(pipeline),
                settings,
                version));
  }

  @Override
  public String name() {
    return NAME;
  }

  /** Else a stream that each client keeps open would hold the drain up until its next look. */
  @Override
  public void drains() {
    pipeline.changes().happened();
  }

  @Override
  public List<Route> routes() {
    return List.of(
        posts(PATH),
        gets(PATH),
        deletes(PATH),
        posts(PATH + "/{server}"),
        gets(PATH + "/{server}"),
        deletes(PATH + "/{server}"));
  }

  /** Outside of a session there is no such stream: 405, as each version of the protocol says. */
  private Route gets(String path) {
    return Route.get(path, Route.Access.CALLER, this::get)
        .when(headers ->
            headers.has(SESSION)
                && headers.one(VERSION).flatMap(McpVersion::of).stream()
                    .noneMatch(McpVersion::isStateless));
  }

  private Route posts(String path) {
    return Route.post(path, Route.Access.CALLER, McpMessage.BYTES_MAX, this::post);
  }

  private Route deletes(String path) {
    return new Route(
        "DELETE", path, Route.Access.CALLER, new Route.Body.None(), _ -> true, this::delete);
  }

  /**
   * The view of a call, by its path.
   *
   * @throws WritException {@code GWY-208}
   */
  private static McpView view(HttpCall call) {
    String server = call.value("server");
    return server == null ? McpView.ALL : McpView.of(server);
  }

  private HttpAnswer post(HttpCall call) {
    try {
      requirePlace(call);
      requireForm(call);
      JsonValue json = McpMessage.read(call.body());
      if (json instanceof JsonValue.Arr all) {
        return batch(call, all);
      }
      McpMessage message = McpMessage.of(json);
      if (message instanceof McpMessage.Request request && isStateless(call, request)) {
        return stateless(call, request);
      }
      requireVersion(call);
      return switch (message) {
        case McpMessage.Request request when request.method().equals(INITIALIZE) ->
            initialize(call, request);
        case McpMessage.Request request -> inSession(call, session(call), request);
        case McpMessage.Notification n -> {
          noted(call, n);
          yield accepted();
        }
        case McpMessage.Response response -> {
          session(call).answered(response);
          yield accepted();
        }
      };
    } catch (WritException e) {
      return refused(e, call.body());
    }
  }

  private static HttpAnswer accepted() {
    return new HttpAnswer(202, List.of(), new HttpAnswer.Body.Bytes(new byte[0]));
  }

  /** A version without sessions has no notifications of clients: one is taken and does nothing. */
  private void noted(HttpCall call, McpMessage.Notification notification) {
    if (call.headers().one(VERSION).flatMap(McpVersion::of).stream()
        .anyMatch(McpVersion::isStateless)) {
      return;
    }
    McpSession session = session(call);
    if (notification.method().equals(CANCELLED)) {
      notification.param("requestId").ifPresent(session::cancel);
    }
  }

  /** The answers of those that need one, in their order, in the versions that have batches. */
  private HttpAnswer batch(HttpCall call, JsonValue.Arr all) {
    requireVersion(call);
    if (call.headers().one(SESSION).isEmpty()) {
      throw new WritException(McpRefusal.MESSAGE, "a batch outside of a session");
    }
    McpSession session = session(call);
    McpMessage.requireBatch(all, session);
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    for (JsonValue each : all.items()) {
      inBatch(call, session, each)
          .ifPresent(answer -> {
            answers.write(answers.size() == 0 ? '[' : ',');
            answers.writeBytes(answer);
          });
    }
    if (answers.size() == 0) {
      return accepted();
    }
    answers.write(']');
    return HttpAnswer.of(200, "application/json", answers.toByteArray())
        .with("Cache-Control", "no-store");
  }

  private Optional<byte[]> inBatch(HttpCall call, McpSession session, JsonValue json) {
    try {
      switch (McpMessage.of(json)) {
        case McpMessage.Request request when request.method().equals(INITIALIZE) ->
            throw new WritException(McpRefusal.MESSAGE, "initialize in a batch");
        case McpMessage.Request request -> {
          MessageInProgress work = MessageInProgress.of(request);
          return Optional.of(inSpan(call, request, session, work).json());
        }
        case McpMessage.Notification notification -> noted(call, notification);
        case McpMessage.Response response -> session.answered(response);
      }
      return Optional.empty();
    } catch (WritException e) {
      if (!(e.code() instanceof McpRefusal)) {
        throw e;
      }
      return Optional.of(error(e, Jcs.write(json)));
    }
  }

  private McpEndpoint.Reply inSpan(
      HttpCall call, McpMessage.Request request, McpSession session, MessageInProgress work) {
    Optional<TraceContext> trace = McpTrace.of(request, this::newSpan);
    JsonValue.Obj context = trace.orElse(call.trace()).putTo(JsonValue.object()).build();
    return pipeline.inSpan(
        McpTrace.span(request),
        McpTrace.attributes(request),
        trace,
        () -> endpoint.answer(session, request, call.rawDigest(), context, work));
  }

  private static boolean isStateless(HttpCall call, McpMessage.Request request) {
    return StatelessProtocol.is(request)
        || !request.method().equals(INITIALIZE)
            && call.headers().one(VERSION).flatMap(McpVersion::of).stream()
                .anyMatch(McpVersion::isStateless);
  }

  /** A request of a version without sessions. */
  private HttpAnswer stateless(HttpCall call, McpMessage.Request request) {
    StatelessProtocol.requireHeaders(call.headers(), request);
    McpSession session = endpoint.sessionOf(call.caller(), view(call), request);
    if (request.method().equals(StatelessProtocol.LISTEN)) {
      ListChangeStream listening =
          ListChangeStream.subscribed(pipeline, endpoint, session, request);
      return HttpAnswer.events(listening::run);
    }
    // Only a stream tells that its client has gone, which is how a call is cancelled.
    if (isStreamed(session, request) && takesEvents(call)) {
      return streamed(call, session, request);
    }
    PausedCalls.Turn turn = paused.turn(session, request);
    McpEndpoint.Reply reply = turn.answer(() -> inSpan(call, request, session, turn.work()));
    return reply(reply, reply.isUnknown() ? 404 : 200);
  }

  /** Whether something may be said while it is at work. */
  private static boolean isStreamed(McpSession session, McpMessage.Request request) {
    return request.method().equals(McpSchema.METHOD_TOOLS_CALL)
        || session.view().server().isPresent()
            && (request.method().equals(McpSchema.METHOD_PROMPT_GET)
                || request.method().equals(McpSchema.METHOD_RESOURCES_READ));
  }

  private HttpAnswer inSession(HttpCall call, McpSession session, McpMessage.Request request) {
    MessageInProgress work = MessageInProgress.of(request);
    boolean talks =
        work.progressToken().isPresent()
            || session.peer().canBeAsked()
            || session.view().server().isPresent();
    if (isStreamed(session, request) && talks && takesEvents(call)) {
      return streamed(call, session, request);
    }
    session.begins(request.id(), work);
    try {
      return reply(inSpan(call, request, session, work), 200);
    } finally {
      session.ends(request.id(), work);
    }
  }

  /** An answer after which messages about the call come, and its result at last. */
  private HttpAnswer streamed(HttpCall call, McpSession session, McpMessage.Request request) {
    PausedCalls.Turn turn = paused.turn(session, request);
    return HttpAnswer.events(sink -> {
      McpEvents events = new McpEvents(sink);
      byte[] last;
      MessageInProgress work = turn.work();
      try {
        last =
            new McpDialogue(session, session, work, events)
                .answer(
                    request,
                    () -> turn.answer(() -> inSpan(call, request, session, work)),
                    question -> endpoint.awaitDecision(question, work))
                .json();
      } catch (WritException e) {
        last = error(e, call.body());
      } catch (RuntimeException e) {
        sink.failed(e);
        last = error(new WritException(GatewayError.INTERNAL, ""), call.body());
      }
      if (!work.isCancelled()) {
        events.write(last);
      }
    });
  }

  private String newSpan() {
    byte[] id = new byte[8];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  /** The stream of a session's own messages: what its lists show has changed. */
  private HttpAnswer get(HttpCall call) {
    try {
      requirePlace(call);
      requireVersion(call);
      if (!takesEvents(call)) {
        throw new WritException(McpRefusal.EVENTS, "");
      }
      McpSession session = session(call);
      ListChangeStream listening =
          ListChangeStream.inSession(pipeline, endpoint, session, () -> sessions.look(passed()));
      return HttpAnswer.events(listening::run);
    } catch (WritException e) {
      return refused(e, call.body());
    }
  }

  private HttpAnswer initialize(HttpCall call, McpMessage.Request request) {
    McpSession session = sessions.open(call.caller(), view(call), passed());
    boolean isOpen = false;
    try {
      McpEndpoint.Reply reply = inSpan(call, request, session, MessageInProgress.of(request));
      isOpen = !reply.failed();
      return isOpen ? reply(reply, 200).with(SESSION, session.id()) : reply(reply, 200);
    } finally {
      if (!isOpen) {
        sessions.end(session);
      }
    }
  }

  /** By a clock that nobody sets. */
  private static Instant passed() {
    return Instant.ofEpochSecond(0, System.nanoTime());
  }

  private static HttpAnswer reply(McpEndpoint.Reply reply, int status) {
    HttpAnswer answer =
        HttpAnswer.of(status, "application/json", reply.json()).with("Cache-Control", "no-store");
    if (reply.request().isPresent()) {
      answer = answer.with("Writ-Request", reply.request().get());
    }
    return reply.receipt().isPresent()
        ? answer.with("Writ-Receipt", reply.receipt().get())
        : answer;
  }

  /**
   * Ends the session, and closes its run unless a request waits, an effect runs or a receipt is in
   * doubt.
   */
  private HttpAnswer delete(HttpCall call) {
    try {
      requirePlace(call);
      McpSession session = session(call);
      sessions.end(session);
      pipeline.changes().happened(); // wakes its stream, which ends
      try {
        pipeline.closeRun(NAME, session.caller().tenant(), session.run());
      } catch (WritException e) {
        // There is no run, or it cannot be closed yet: it stays open.
      }
      return new HttpAnswer(204, List.of(), new HttpAnswer.Body.Bytes(new byte[0]));
    } catch (WritException e) {
      return refused(e, call.body());
    }
  }

  private McpSession session(HttpCall call) {
    String id =
        call.headers()
            .one(SESSION)
            .orElseThrow(() -> new WritException(McpRefusal.SESSION_MISSING, ""));
    return sessions.find(call.caller(), view(call), id, passed());
  }

  /** Web pages send Origin; after DNS rebinding a page sends its own host name as Host. */
  private void requirePlace(HttpCall call) {
    Optional<String> origin = call.headers().one("origin");
    if (origin.isPresent() && !mayCall(origin.get())) {
      throw new WritException(McpRefusal.ORIGIN, "Origin");
    }
    String host = call.headers().one("host").orElse("");
    if (onLoopback && !Hosts.isLoopback(host)) {
      throw new WritException(McpRefusal.ORIGIN, "Host");
    }
  }

  private boolean mayCall(String origin) {
    if (settings.origins().contains(origin)) {
      return true;
    }
    try {
      String host = URI.create(origin).getHost();
      return onLoopback && host != null && Hosts.isLoopback(host);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static void requireForm(HttpCall call) {
    String type = call.headers().one("content-type").orElse("");
    if (!type.split(";", 2)[0].strip().equalsIgnoreCase("application/json")) {
      throw new WritException(GatewayError.MEDIA_TYPE, "application/json is taken");
    }
    if (!takes(call, List.of("application/json", "application/*", "*/*"))) {
      throw new WritException(McpRefusal.ACCEPT, "");
    }
  }

  private static boolean takes(HttpCall call, List<String> ranges) {
    List<String> accept = call.headers().all("accept");
    return accept.isEmpty()
        || accept.stream()
            .flatMap(value -> List.of(value.split(",")).stream())
            .map(range -> range.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
            .anyMatch(ranges::contains);
  }

  private static boolean takesEvents(HttpCall call) {
    return call.headers().has("accept") && takes(call, List.of("text/event-stream"));
  }

  private static void requireVersion(HttpCall call) {
    Optional<String> version = call.headers().one(VERSION);
    if (version.isPresent() && !McpVersion.withSessions().contains(version.get())) {
      throw new WritException(McpRefusal.PROTOCOL_VERSION, version.get());
    }
  }

  /** A JSON-RPC error for a refused message, under the HTTP status of the refusal. */
  private static HttpAnswer refused(WritException e, byte[] message) {
    if (!(e.code() instanceof McpRefusal refusal)) {
      throw e; // the server's own answer: problem+json
    }
    int status =
        switch (refusal) {
          case SESSION_UNKNOWN, SERVER_UNKNOWN -> 404;
          case ORIGIN -> 403;
          case ACCEPT, EVENTS -> 406;
          case MESSAGE, PROTOCOL_VERSION, SESSION_MISSING, CALL, HEADERS, META, STATE, ANSWERS ->
              400;
          case CANCELLED -> 200;
        };
    return HttpAnswer.of(status, "application/json", error(e, message))
        .with("Cache-Control", "no-store");
  }

  /**
   * The error for a refused message, with its id if that is readable.
   *
   * @param message as received
   */
  public static byte[] error(WritException e, byte[] message) {
    McpMessage.Readable read = McpMessage.Readable.of(message);
    int code =
        switch (e.code()) {
          case McpRefusal.MESSAGE ->
              read.isJson()
                  ? McpSchema.ErrorCodes.INVALID_REQUEST
                  : McpSchema.ErrorCodes.PARSE_ERROR;
          case McpRefusal.PROTOCOL_VERSION -> UNSUPPORTED_VERSION;
          case McpRefusal.HEADERS -> HEADER_MISMATCH;
          case McpRefusal.META, McpRefusal.STATE, McpRefusal.ANSWERS ->
              McpSchema.ErrorCodes.INVALID_PARAMS;
          case McpRefusal _ -> McpSchema.ErrorCodes.INVALID_REQUEST;
          default -> McpSchema.ErrorCodes.INTERNAL_ERROR;
        };
    ObjectBuilder data =
        JsonValue.object()
            .put("code", e.code().code())
            .put("detail", e.found())
            .put("remedy", e.code().remedy());
    if (e.code() == McpRefusal.PROTOCOL_VERSION) {
      data.put("requested", e.found()).putList("supported", McpVersion.spoken(), JsonValue::of);
    }
    JsonValue.Obj error =
        JsonValue.object()
            .put("code", code)
            .put("message", e.code().meaning())
            .put("data", data.build())
            .build();
    return Jcs.write(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("id", read.id().orElse(JsonValue.NULL))
            .put("error", error)
            .build());
  }
}
