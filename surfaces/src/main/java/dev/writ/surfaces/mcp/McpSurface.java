package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.TraceContext;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.RunBundle;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.ProtocolVersions;
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

  private final Pipeline pipeline;
  private final McpEndpoint endpoint;
  private final McpSettings settings;
  private final McpSessions sessions;
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
    this.endpoint =
        new McpEndpoint(
            new McpParts(
                pipeline.kernel(), tools, bundles, new VouchingAsker(pipeline), settings, version));
  }

  @Override
  public String name() {
    return NAME;
  }

  /** No GET: the server sends nothing by itself, so there is no stream to open (405). */
  @Override
  public List<Route> routes() {
    return List.of(
        Route.post(PATH, Route.Access.CALLER, McpMessage.BYTES_MAX, this::post),
        new Route(
            "DELETE", PATH, Route.Access.CALLER, new Route.Body.None(), _ -> true, this::delete));
  }

  private HttpAnswer post(HttpCall call) {
    try {
      requirePlace(call);
      requireForm(call);
      McpMessage message = McpMessage.parse(call.body());
      requireVersion(call);
      if (message instanceof McpMessage.Request request) {
        Optional<TraceContext> trace = McpTrace.of(request, this::newSpan);
        JsonValue.Obj context = trace.orElse(call.trace()).putTo(JsonValue.object()).build();
        return pipeline.inSpan(
            McpTrace.span(request),
            McpTrace.attributes(request),
            trace,
            () ->
                request.method().equals(McpSchema.METHOD_INITIALIZE)
                    ? initialize(call, request, context)
                    : reply(endpoint.answer(session(call), request, call.rawDigest(), context)));
      }
      session(call);
      return new HttpAnswer(202, List.of(), new HttpAnswer.Body.Bytes(new byte[0]));
    } catch (WritException e) {
      return refused(e, call.body());
    }
  }

  private String newSpan() {
    byte[] id = new byte[8];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  private HttpAnswer initialize(HttpCall call, McpMessage.Request request, JsonValue.Obj context) {
    McpSession session = sessions.open(call.caller(), passed());
    McpEndpoint.Reply reply = endpoint.answer(session, request, call.rawDigest(), context);
    if (reply.failed()) {
      sessions.end(session);
      return reply(reply);
    }
    return reply(reply).with(SESSION, session.id());
  }

  /** By a clock that nobody sets. */
  private static Instant passed() {
    return Instant.ofEpochSecond(0, System.nanoTime());
  }

  private static HttpAnswer reply(McpEndpoint.Reply reply) {
    HttpAnswer answer =
        HttpAnswer.of(200, "application/json", reply.json()).with("Cache-Control", "no-store");
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
    return sessions.find(call.caller(), id, passed());
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
    List<String> accept = call.headers().all("accept");
    boolean takesJson =
        accept.isEmpty()
            || accept.stream()
                .flatMap(value -> List.of(value.split(",")).stream())
                .map(range -> range.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
                .anyMatch(List.of("application/json", "application/*", "*/*")::contains);
    if (!takesJson) {
      throw new WritException(McpRefusal.ACCEPT, "");
    }
  }

  /** The version that clients mean if they send no header is accepted if it is sent, too. */
  private static void requireVersion(HttpCall call) {
    Optional<String> version = call.headers().one(VERSION);
    if (version.isPresent()
        && !McpEndpoint.VERSIONS.contains(version.get())
        && !version.get().equals(ProtocolVersions.MCP_2025_03_26)) {
      throw new WritException(McpRefusal.PROTOCOL_VERSION, "spoken: " + McpEndpoint.VERSIONS);
    }
  }

  /** A JSON-RPC error for a refused message, under the HTTP status of the refusal. */
  private static HttpAnswer refused(WritException e, byte[] message) {
    if (!(e.code() instanceof McpRefusal refusal)) {
      throw e; // the server's own answer: problem+json
    }
    int status =
        switch (refusal) {
          case SESSION_UNKNOWN -> 404;
          case ORIGIN -> 403;
          case ACCEPT -> 406;
          case MESSAGE, PROTOCOL_VERSION, SESSION_MISSING, CALL -> 400;
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
        e.code() == McpRefusal.MESSAGE && !read.isJson()
            ? McpSchema.ErrorCodes.PARSE_ERROR
            : McpSchema.ErrorCodes.INVALID_REQUEST;
    JsonValue.Obj error =
        JsonValue.object()
            .put("code", code)
            .put("message", e.code().meaning())
            .put(
                "data",
                JsonValue.object()
                    .put("code", e.code().code())
                    .put("detail", e.found())
                    .put("remedy", e.code().remedy())
                    .build())
            .build();
    return Jcs.write(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("id", read.id().orElse(JsonValue.NULL))
            .put("error", error)
            .build());
  }
}
