package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code writ mcp --url}: a server that dropped the session hears again what the client wanted. */
class ARelaysNewSessionIsAsTheOldOneTest {
  /** Each message as its session and its method. */
  private final List<String> heard = new CopyOnWriteArrayList<>();

  private final AtomicInteger sessions = new AtomicInteger();
  private HttpServer server;
  private McpRelay relay;

  @BeforeEach
  void open() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/mcp", this::answer);
    server.start();
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    relay = new McpRelay(url, McpView.ALL, () -> "Bearer t", Optional.empty());
  }

  @AfterEach
  void close() {
    relay.close();
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] bytes = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestMethod().equals("POST")) {
      exchange.sendResponseHeaders(405, -1);
      exchange.close();
      return;
    }
    String method = ((JsonValue.Str) ((JsonValue.Obj) Jcs.parse(bytes)).get("method")).value();
    String in = exchange.getRequestHeaders().getFirst(McpSurface.SESSION);
    boolean isKnown = in == null || in.equals("s" + sessions.get());
    if (method.equals("initialize")) {
      exchange.getResponseHeaders().set(McpSurface.SESSION, "s" + sessions.incrementAndGet());
    } else if (isKnown) {
      heard.add(in + " " + method);
    }
    byte[] body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(isKnown ? 200 : 404, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private void ask(String method) {
    String line =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""
            + method
            + "\",\"params\":{\"level\":\"debug\"}}";
    assertThat(relay.answer(line.getBytes(StandardCharsets.UTF_8), McpChannel.NONE)).isPresent();
  }

  @Test
  void theLevelOfLogsIsSaidAgain() {
    ask("initialize");
    ask("logging/setLevel");
    ask("tools/list");
    sessions.incrementAndGet(); // the server drops the session
    ask("tools/list");
    assertThat(heard)
        .containsExactly(
            "s1 logging/setLevel", "s1 tools/list", "s3 logging/setLevel", "s3 tools/list");
  }

  @Test
  void aClientThatBeginsAnewSaysItAnew() {
    ask("initialize");
    ask("logging/setLevel");
    ask("initialize");
    sessions.incrementAndGet();
    ask("tools/list");
    assertThat(heard).containsExactly("s1 logging/setLevel", "s4 tools/list");
  }
}
