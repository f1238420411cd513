package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.SystemState;
import dev.writ.gateway.http.HttpAnswer;
import dev.writ.gateway.pipeline.Pipeline;
import java.io.IOException;
import java.time.Duration;

/** subscriptions/listen: tells one client when the tools that it may use are others. */
final class McpListening {
  /** How often the client's end and the server's are looked for, and a sign of life is sent. */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(5);

  private static final String TOOLS = "toolsListChanged";

  private final Pipeline pipeline;
  private final McpEndpoint endpoint;
  private final McpSession session;
  private final McpMessage.Request request;

  McpListening(
      Pipeline pipeline, McpEndpoint endpoint, McpSession session, McpMessage.Request request) {
    this.pipeline = pipeline;
    this.endpoint = endpoint;
    this.session = session;
    this.request = request;
  }

  void run(HttpAnswer.Sink sink) throws IOException {
    McpEvents events = new McpEvents(sink);
    boolean tools =
        request.param("notifications").orElse(JsonValue.NULL) instanceof JsonValue.Obj wanted
            && JsonValue.TRUE.equals(wanted.get(TOOLS));
    SystemState state = pipeline.kernel().system();
    Object shown = endpoint.listed(session);
    events.send(
        notification(
            "notifications/subscriptions/acknowledged",
            JsonValue.object()
                .put("_meta", meta())
                .put(
                    "notifications",
                    tools
                        ? JsonValue.object().put(TOOLS, true).build()
                        : JsonValue.object().build())));
    while (!sink.isClosing()) {
      long seen = pipeline.changes().count();
      SystemState now = pipeline.kernel().system();
      if (tools && now != state) {
        state = now;
        Object shows = endpoint.listed(session);
        if (!shows.equals(shown)) {
          shown = shows;
          events.send(
              notification(
                  "notifications/tools/list_changed", JsonValue.object().put("_meta", meta())));
        }
      }
      try {
        pipeline.changes().await(seen, LOOK_EVERY);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      events.writeNothing();
    }
    events.send(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("id", request.id())
            .put(
                "result",
                JsonValue.object().put("resultType", "complete").put("_meta", meta()).build())
            .build());
  }

  private JsonValue.Obj meta() {
    return JsonValue.object().put(Stateless.PREFIX + "subscriptionId", request.id()).build();
  }

  private static JsonValue.Obj notification(String method, ObjectBuilder params) {
    return JsonValue.object()
        .put("jsonrpc", "2.0")
        .put("method", method)
        .put("params", params.build())
        .build();
  }
}
