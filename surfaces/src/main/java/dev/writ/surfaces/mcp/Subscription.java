package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a client wants told by subscriptions/listen; each message about it has the id of that
 * request.
 */
public final class Subscription {
  private final McpMessage.Request request;

  /**
   * @param request subscriptions/listen
   */
  public Subscription(McpMessage.Request request) {
    this.request = request;
  }

  /** Whether a request is one. */
  public static boolean is(McpMessage.Request request) {
    return request.method().equals(StatelessProtocol.LISTEN);
  }

  /** The lists that the client wants to be told of. */
  List<ListKind> wanted() {
    return request.param("notifications").orElse(JsonValue.NULL) instanceof JsonValue.Obj wanted
        ? Stream.of(ListKind.values())
            .filter(kind -> JsonValue.TRUE.equals(wanted.get(kind.filter())))
            .toList()
        : List.of();
  }

  /** The first message: of these the client is told. */
  JsonValue.Obj acknowledged(Collection<ListKind> granted) {
    ObjectBuilder kinds = JsonValue.object();
    granted.forEach(kind -> kinds.put(kind.filter(), true));
    return JsonValue.object()
        .put("jsonrpc", "2.0")
        .put("method", "notifications/subscriptions/acknowledged")
        .put(
            "params",
            JsonValue.object().put("_meta", meta()).put("notifications", kinds.build()).build())
        .build();
  }

  JsonValue.Obj changed(ListKind kind) {
    return kind.changed(JsonValue.object().put("_meta", meta()).build());
  }

  /** The response, after which nothing is told. */
  JsonValue.Obj end() {
    return JsonValue.object()
        .put("jsonrpc", "2.0")
        .put("id", request.id())
        .put(
            "result", JsonValue.object().put("resultType", "complete").put("_meta", meta()).build())
        .build();
  }

  private JsonValue.Obj meta() {
    return JsonValue.object()
        .put(StatelessProtocol.PREFIX + "subscriptionId", request.id())
        .build();
  }
}
