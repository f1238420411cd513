package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code writ mcp --url}: what a proxy changes in heads, and what a client may write into one. */
class ARelayReadsWhatComesThroughAProxyTest {
  private static final String META =
      "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"VERSION\",\"io.modelcontextprotocol/clientCapabilities\":{}}";

  private final List<String> methods = new CopyOnWriteArrayList<>();
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
    methods.add(String.valueOf(exchange.getRequestHeaders().getFirst("Mcp-Method")));
    exchange.getRequestBody().readAllBytes();
    byte[] body =
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n\n"
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "Text/Event-Stream; charset=utf-8");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private String asked(String method, String version) {
    String line =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""
            + method
            + "\",\"params\":{"
            + META.replace("VERSION", version)
            + "}}";
    return new String(
        relay.answer(line.getBytes(StandardCharsets.UTF_8), McpChannel.NONE).orElseThrow(),
        StandardCharsets.UTF_8);
  }

  @Test
  void aStreamWithACharacterSetIsOne() {
    assertThat(asked("tools/list", "2026-07-28")).contains("\"tools\":[]");
    assertThat(methods).contains("tools/list");
  }

  @Test
  void whatCannotStandInAHeadIsSentEncoded() {
    assertThat(asked("a\\nb", "2026-07-28")).contains("result");
    assertThat(methods).contains("=?base64?YQpi?=");
    assertThat(asked("tools/list", "2026\\r\\n")).contains("result");
  }
}
