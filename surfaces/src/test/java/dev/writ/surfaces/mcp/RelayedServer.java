package dev.writ.surfaces.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** A server that answers as a test says, and the relay that passes a client's messages on to it. */
final class RelayedServer implements AutoCloseable {
  private final HttpServer server;
  private final McpRelay relay;

  RelayedServer(HttpHandler answers) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/mcp", answers);
    server.start();
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    relay = new McpRelay(url, McpView.ALL, () -> "Bearer t", Optional.empty());
  }

  /** What the client gets for a request; empty where the relay answers nothing. */
  Optional<String> asked(String method, String params) {
    String line =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}";
    return relay
        .answer(line.getBytes(StandardCharsets.UTF_8), McpChannel.NONE)
        .map(bytes -> new String(bytes, StandardCharsets.UTF_8));
  }

  /** Ends an exchange with an answer. */
  static void answer(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    relay.close();
    server.stop(0);
  }
}
