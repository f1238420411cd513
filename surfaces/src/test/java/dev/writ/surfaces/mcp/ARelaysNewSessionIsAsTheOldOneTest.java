package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.util.List;
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
  private RelayedServer server;

  @BeforeEach
  void open() throws IOException {
    server = new RelayedServer(this::answer);
  }

  @AfterEach
  void close() {
    server.close();
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
    RelayedServer.answer(
        exchange,
        isKnown ? 200 : 404,
        "application/json",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
  }

  private void ask(String method) {
    assertThat(server.asked(method, "{\"level\":\"debug\"}")).isPresent();
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
