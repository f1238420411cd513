package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The view of one upstream, on standard input and output and over HTTP: spec/surface-mcp.md. */
class OneServerIsSeenUnderItsOwnNamesTest {
  private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
  private static final String ADD =
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":3}}}";
  private static final String OTHER =
      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"js\",\"arguments\":{\"source\":\"6*7\"}}}";

  @TempDir Path dir;
  private String home;

  @BeforeEach
  void addAServer() {
    Path script = Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py");
    home = AddedServer.in(dir, "calc", script);
  }

  private static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(JsonValue json) {
    return new String(Jcs.write(json), StandardCharsets.UTF_8);
  }

  private static JsonValue at(JsonValue from, String... path) {
    JsonValue found = from;
    for (String key : path) {
      found = ((JsonValue.Obj) found).get(key);
    }
    return found;
  }

  private static List<String> names(JsonValue.Obj listed) {
    List<String> names = new ArrayList<>();
    ((JsonValue.Arr) at(listed, "result", "tools"))
        .items()
        .forEach(tool -> names.add(((JsonValue.Str) at(tool, "name")).value()));
    return names;
  }

  @Test
  void overStdioItsToolsAloneHaveTheServersNamesAndEveryCallIsJudged() {
    Run session =
        Run.withInput(
            String.join("\n", INITIALIZE, LIST, ADD, OTHER) + "\n",
            "mcp",
            "--server",
            "calc",
            "--home",
            home);
    assertThat(session.status()).as(session.err()).isZero();
    List<JsonValue.Obj> said =
        session
            .out()
            .lines()
            .map(OneServerIsSeenUnderItsOwnNamesTest::object)
            .sorted((a, b) -> a.get("id").toString().compareTo(b.get("id").toString()))
            .toList();
    assertThat(at(said.get(0), "result", "serverInfo", "name"))
        .isEqualTo(JsonValue.of("writ/calc"));
    assertThat(((JsonValue.Obj) at(said.get(0), "result", "capabilities")).members().keySet())
        .containsExactly("tools");
    assertThat(names(said.get(1))).containsExactly("add");
    assertThat(at(said.get(2), "result", "isError")).isEqualTo(JsonValue.FALSE);
    assertThat(text(said.get(2))).contains("\"text\":\"5\"", "dev.writ/receipt");
    assertThat(text(said.get(3)))
        .as("another's tool is a tool that this server lacks")
        .contains("No tool of this name is listed for you", "DENIED GRD-401")
        .contains("calc not listed", "dev.writ/decision");
    assertThat(Run.of("audit", "--home", home).status()).isZero();
  }

  @Test
  void aNameThatIsNoServersAndAServerThatPolicyLetsGoAreRefused() {
    Run nobody = Run.withInput(INITIALIZE + "\n", "mcp", "--server", "nobody", "--home", home);
    assertThat(nobody.out()).contains("\"id\":0", "GWY-208");
    Run builtin = Run.withInput(INITIALIZE + "\n", "mcp", "--server", "js", "--home", home);
    assertThat(builtin.out()).as("a tool that is no server").contains("GWY-208");
    Run none = Run.of("mcp", "--server", "../v1", "--home", home);
    assertThat(none.err()).contains("GWY-208");
    assertThat(Run.of("mcp", "remove", "calc", "--home", home).status()).isZero();
    AddedServer.activate(home);
    Run removed = Run.withInput(INITIALIZE + "\n", "mcp", "--server", "calc", "--home", home);
    assertThat(removed.out()).contains("GWY-208");
  }

  private static HttpResponse<String> post(
      HttpClient client, String url, String token, String message, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(
        request.POST(HttpRequest.BodyPublishers.ofString(message)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static Set<ProcessHandle> servers(Process writ) {
    return writ.descendants()
        .filter(p -> p.info().commandLine().filter(c -> c.contains("/tool/server.py")).isPresent())
        .collect(Collectors.toSet());
  }

  private static String[] session(HttpClient client, String url, String token) throws Exception {
    HttpResponse<String> begun = post(client, url, token, INITIALIZE);
    String id = begun.headers().firstValue("Mcp-Session-Id").orElseThrow();
    String[] in = {"Mcp-Session-Id", id};
    assertThat(post(client, url, token, ADD, in).body()).contains("\"text\":\"5\"");
    return in;
  }

  @Test
  void itsProcessEndsWithTheSessionAndThatOfAnotherSessionGoesOn() throws Exception {
    List<String> command = OwnProcess.writ("--home", home, "serve", "--port", "0");
    Process writ = new ProcessBuilder(command).redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = writ.inputReader(StandardCharsets.UTF_8);
        HttpClient client = HttpClient.newHttpClient()) {
      String url = out.readLine().replace("listening on ", "") + "/mcp/calc";
      String token =
          ((JsonValue.Str) object(Files.readString(Path.of(home, "serving.json"))).get("token"))
              .value();
      String[] first = session(client, url, token);
      Set<ProcessHandle> ofFirst = servers(writ);
      String[] second = session(client, url, token);
      Set<ProcessHandle> ofSecond = servers(writ);
      ofSecond.removeAll(ofFirst);
      assertThat(ofFirst).isNotEmpty();
      assertThat(ofSecond).isNotEmpty();
      HttpRequest delete =
          HttpRequest.newBuilder(URI.create(url))
              .header("Authorization", "Bearer " + token)
              .headers(first)
              .DELETE()
              .build();
      assertThat(client.send(delete, HttpResponse.BodyHandlers.ofString()).statusCode())
          .isEqualTo(204);
      assertThat(servers(writ)).isEqualTo(ofSecond);
      assertThat(post(client, url, token, ADD, second).body()).contains("\"text\":\"5\"");
      assertThat(servers(writ)).as("the same process").isEqualTo(ofSecond);
    } finally {
      writ.destroy();
      writ.waitFor();
    }
  }

  @Test
  void overHttpItHasAPathOfItsOwnAndSessionsOfItsOwn() throws Exception {
    List<String> command = OwnProcess.writ("--home", home, "serve", "--port", "0");
    Process server = new ProcessBuilder(command).redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
        HttpClient client = HttpClient.newHttpClient()) {
      String url = out.readLine().replace("listening on ", "");
      String token =
          ((JsonValue.Str) object(Files.readString(Path.of(home, "serving.json"))).get("token"))
              .value();
      HttpResponse<String> begun = post(client, url + "/mcp/calc", token, INITIALIZE);
      assertThat(begun.body()).contains("writ/calc");
      String session = begun.headers().firstValue("Mcp-Session-Id").orElseThrow();
      String[] in = {"Mcp-Session-Id", session};
      assertThat(names(object(post(client, url + "/mcp/calc", token, LIST, in).body())))
          .containsExactly("add");
      assertThat(post(client, url + "/mcp/calc", token, ADD, in).body()).contains("\"text\":\"5\"");
      HttpResponse<String> elsewhere = post(client, url + "/mcp", token, LIST, in);
      assertThat(elsewhere.statusCode()).isEqualTo(404);
      assertThat(elsewhere.body()).contains("GWY-154");
      HttpResponse<String> unknown = post(client, url + "/mcp/nobody", token, INITIALIZE);
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(unknown.body()).contains("GWY-208", "\"id\":0");
      assertThat(unknown.headers().firstValue("Mcp-Session-Id")).isEmpty();

      String meta =
          "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}";
      String[] head = {
        "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "add"
      };
      String stateless = ADD.replace("\"name\":\"add\"", "\"name\":\"add\"," + meta);
      assertThat(post(client, url + "/mcp/calc", token, stateless, head).body())
          .contains("\"text\":\"5\"", "\"name\":\"writ/calc\"");

      Run relayed =
          Run.withInput(INITIALIZE + "\n" + LIST + "\n", "mcp", "--server", "calc", "--home", home);
      assertThat(relayed.out()).contains("writ/calc", "\"name\":\"add\"").doesNotContain("outcome");
    } finally {
      server.destroy();
      server.waitFor();
    }
  }
}
