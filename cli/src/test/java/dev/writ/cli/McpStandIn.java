package dev.writ.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** An MCP server on loopback that lists one tool to everybody, whatever they call themselves. */
final class McpStandIn implements AutoCloseable {
  private final HttpServer server;

  private McpStandIn(HttpServer server) {
    this.server = server;
  }

  static McpStandIn start() throws IOException {
    McpStandIn made =
        new McpStandIn(
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    made.server.createContext("/mcp", McpStandIn::answer);
    made.server.start();
    return made;
  }

  int port() {
    return server.getAddress().getPort();
  }

  private static void answer(HttpExchange exchange) throws IOException {
    byte[] asked = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestMethod().equals("POST")) {
      exchange.sendResponseHeaders(405, -1);
    } else if (!(Jcs.parse(asked) instanceof JsonValue.Obj message) || message.get("id") == null) {
      exchange.sendResponseHeaders(202, -1);
    } else {
      byte[] answer =
          Jcs.write(
              JsonValue.object()
                  .put("jsonrpc", "2.0")
                  .put("id", message.get("id"))
                  .put("result", result(message))
                  .build());
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
    exchange.close();
  }

  private static JsonValue result(JsonValue.Obj message) {
    String json =
        switch (((JsonValue.Str) message.get("method")).value()) {
          case "initialize" ->
              "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                  + "\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}";
          case "tools/list" ->
              "{\"tools\":[{\"name\":\"hello\",\"description\":\"d\","
                  + "\"inputSchema\":{\"type\":\"object\",\"properties\":{}}}]}";
          default -> "{}";
        };
    return Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
