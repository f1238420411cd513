package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code writ mcp --url}: what a proxy changes in heads, and what a client may write into one. */
class ARelayReadsWhatComesThroughAProxyTest {
  private static final String META =
      "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"VERSION\",\"io.modelcontextprotocol/clientCapabilities\":{}}";

  private final List<String> methods = new CopyOnWriteArrayList<>();
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
    methods.add(String.valueOf(exchange.getRequestHeaders().getFirst("Mcp-Method")));
    exchange.getRequestBody().readAllBytes();
    RelayedServer.answer(
        exchange,
        200,
        "Text/Event-Stream; charset=utf-8",
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n\n");
  }

  private String asked(String method, String version) {
    return server.asked(method, "{" + META.replace("VERSION", version) + "}").orElseThrow();
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
