package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.verify.bundle.BundleExport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** spec/gateway.md, 34 and 35: what a credential may do by now is what it may do in a session. */
@Timeout(120)
class ASessionIsOfTheRolesOfNowTest {
  private static final String PLAIN = "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n";
  private static final String OTHERS =
      WholeGateway.token("alice", "alice", "") + WholeGateway.token("staying", "deputy", "");
  private static final String WHOLE = PLAIN + OTHERS + token("");

  @TempDir Path dir;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private WholeGateway server;
  private String output;

  /** That of whom policy has see all that its tenant does, by the role stand-in. */
  private static String token(String more) {
    return WholeGateway.token("changing", "deputy", more);
  }

  @BeforeEach
  void start() throws Exception {
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    server =
        new WholeGateway(
            home,
            WHOLE,
            dir,
            installation -> installation,
            pipeline ->
                List.of(
                    new McpSurface(
                        pipeline,
                        McpTestServer.tools(home),
                        new RunBundle(BundleExport.Packages.of(home.tools)),
                        McpSettings.DEFAULT,
                        true,
                        "0.1.0",
                        new SecureRandom())));
    HttpResponse<String> made = server.post("alice", "/test/r/calc", "{}");
    assertThat(made.statusCode()).isEqualTo(200);
    output = "{\"uri\":\"writ://receipts/" + made.body() + "/output\"}";
  }

  @AfterEach
  void stop() throws IOException {
    http.close();
    server.close();
  }

  private void reload(String yaml) {
    server.gateway.reload(() ->
        GatewayConfig.parse(yaml.getBytes(StandardCharsets.UTF_8), "gateway.yaml", Map.of())
            .inFolder(dir));
    assertThat(server.logged().stream().map(Object::toString).filter(l -> l.contains("reload")))
        .last()
        .asString()
        .contains("reloaded");
  }

  private HttpRequest.Builder in(String token, String session) {
    return server
        .as(token, "/mcp")
        .header("Accept", "application/json, text/event-stream")
        .header("Mcp-Session-Id", session);
  }

  private String open(String token) throws Exception {
    HttpResponse<String> opened =
        server.send(
            server
                .as(token, "/mcp")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(McpTestServer.INITIALIZE)));
    return opened.headers().firstValue("Mcp-Session-Id").orElseThrow();
  }

  private HttpResponse<String> ask(String token, String session, String method, String params)
      throws Exception {
    String message =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}";
    return server.send(in(token, session).POST(HttpRequest.BodyPublishers.ofString(message)));
  }

  private String read(String token, String session) throws Exception {
    return ask(token, session, "resources/read", output).body();
  }

  private String tools(String token, String session) throws Exception {
    return ask(token, session, "tools/list", "{}").body();
  }

  private BufferedReader stream(HttpRequest.Builder request) throws Exception {
    HttpResponse<InputStream> answer =
        http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).isEqualTo(200);
    return new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
  }

  /** What is in the stream of a session until a message comes or it ends. */
  private static String next(BufferedReader stream) throws IOException {
    String line = stream.readLine();
    while (line != null && !line.startsWith("data: ")) {
      line = stream.readLine();
    }
    return line == null ? "" : line;
  }

  @ParameterizedTest
  @CsvSource({"'roles: [worker]', true", "'roles: [stand-in]', false"})
  void aNarrowedTokenReadsAndListsNothingInASessionFromBefore(String roles, boolean mayCalculate)
      throws Exception {
    String old = open("changing");
    String staying = open("staying");
    assertThat(read("changing", old)).contains("\"contents\"");
    assertThat(tools("changing", old)).contains("calc_do");
    reload(PLAIN + OTHERS + token(roles));
    for (String method : List.of("resources/read", "tools/list", "resources/list", "ping")) {
      HttpResponse<String> answer = ask("changing", old, method, output);
      assertThat(answer.statusCode()).as(method).isEqualTo(404);
      assertThat(answer.body()).contains("GWY-154").doesNotContain("contents", "calc_do");
    }
    assertThat(server.send(in("changing", old).DELETE()).statusCode()).isEqualTo(404);
    String anew = open("changing");
    assertThat(tools("changing", anew).contains("calc_do")).isEqualTo(mayCalculate);
    assertThat(read("changing", anew).contains("\"contents\"")).isEqualTo(!mayCalculate);
    assertThat(read("staying", staying)).as("that of another token").contains("\"contents\"");
    assertThat(tools("staying", staying)).contains("calc_do");
  }

  @Test
  void aWidenedTokenBeginsAnewAndMayDoMoreThen() throws Exception {
    reload(PLAIN + OTHERS + token("roles: [worker]"));
    String narrow = open("changing");
    assertThat(read("changing", narrow)).doesNotContain("\"contents\"");
    reload(WHOLE);
    assertThat(read("changing", narrow)).contains("GWY-154");
    assertThat(read("changing", open("changing"))).contains("\"contents\"");
  }

  @Test
  void aRemovedTokenAndOneOfAnotherTenantHaveNoSession() throws Exception {
    String old = open("changing");
    reload(PLAIN + OTHERS);
    assertThat(ask("changing", old, "resources/read", output).statusCode()).isEqualTo(401);
    reload(PLAIN + OTHERS + WholeGateway.token("changing", "eve", ""));
    assertThat(read("changing", old)).contains("GWY-154");
    assertThat(read("changing", open("changing"))).doesNotContain("\"contents\"");
  }

  @ParameterizedTest
  @CsvSource({"'roles: [worker]'", "removed", "eve"})
  void openStreamsEndWithWhatTheirTokenWas(String becomes) throws Exception {
    String staying = open("staying");
    try (BufferedReader own = stream(in("changing", open("changing")).GET());
        BufferedReader subscribed = stream(subscription());
        BufferedReader run = stream(events("changing", "text/event-stream"));
        BufferedReader others = stream(in("staying", staying).GET())) {
      assertThat(next(subscribed)).contains("acknowledged");
      int all = server.send(events("alice", "application/json")).body().split("\"seq\":").length;
      for (int i = 1; i < all; i++) {
        assertThat(next(run)).as("what is of alice").isNotEmpty();
      }
      reload(
          PLAIN
              + OTHERS
              + switch (becomes) {
                case "removed" -> "";
                case "eve" -> WholeGateway.token("changing", "eve", "");
                default -> token(becomes);
              });
      assertThat(server.post("alice", "/test/r/calc", "{\"n\":1}").statusCode()).isEqualTo(200);
      server.home.activate(
          TestPolicy.YAML.replace("tools: [calc, mail, pay, sim]", "tools: [calc, mail]"));
      server.gateway.changes().systemChanged();
      assertThat(next(others)).as("of a token that is as it was").contains("list_changed");
      server.send(in("staying", staying).DELETE());
      assertThat(own.lines().filter(line -> line.startsWith("data:"))).isEmpty();
      assertThat(subscribed.lines().filter(line -> line.contains("list_changed"))).isEmpty();
      assertThat(run.lines().filter(line -> line.startsWith("data:"))).isEmpty();
    }
  }

  private HttpRequest.Builder events(String token, String form) {
    return server.as(token, "/v1/runs/r/events").header("Accept", form).GET();
  }

  private HttpRequest.Builder subscription() {
    String message =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"subscriptions/listen\",\"params\":{PARAMS}}";
    return server
        .as("changing", "/mcp")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "subscriptions/listen")
        .POST(HttpRequest.BodyPublishers.ofString(message.replace("PARAMS", subscribes())));
  }

  private static String subscribes() {
    return "\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
               + "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"},"
               + "\"io.modelcontextprotocol/clientCapabilities\":{}}";
  }
}
