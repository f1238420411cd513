package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.message.TraceContext;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The trace that a message belongs to: {@code params._meta.traceparent} and {@code tracestate}, as
 * OpenTelemetry's conventions for the protocol have it on every transport.
 */
public final class McpTrace {
  private static final String METHOD = "mcp.method.name";
  private static final String OTHER = "other";

  /** Methods that the SDK answers; a client may send any other word. */
  private static final List<String> METHODS =
      List.of(
          McpSchema.METHOD_INITIALIZE,
          McpSchema.METHOD_PING,
          McpSchema.METHOD_TOOLS_LIST,
          McpSchema.METHOD_TOOLS_CALL,
          McpSchema.METHOD_RESOURCES_LIST,
          McpSchema.METHOD_RESOURCES_READ,
          McpSchema.METHOD_RESOURCES_TEMPLATES_LIST);

  private McpTrace() {}

  /**
   * @param newSpan makes the id of the message's span
   * @return empty if the message states none, or a malformed one
   */
  public static Optional<TraceContext> of(McpMessage.Request message, Supplier<String> newSpan) {
    Optional<JsonValue.Obj> meta =
        message
            .params()
            .filter(JsonValue.Obj.class::isInstance)
            .map(params -> ((JsonValue.Obj) params).get("_meta"))
            .filter(JsonValue.Obj.class::isInstance)
            .map(JsonValue.Obj.class::cast);
    return meta.flatMap(
        found -> TraceContext.of(text(found, "traceparent"), text(found, "tracestate"), newSpan));
  }

  private static String text(JsonValue.Obj meta, String name) {
    return meta.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** The name of a message's span. */
  static String span(McpMessage.Request message) {
    return METHODS.contains(message.method()) ? message.method() : OTHER;
  }

  static SortedMap<String, String> attributes(McpMessage.Request message) {
    return new TreeMap<>(Map.of(METHOD, span(message)));
  }
}
