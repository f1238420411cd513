package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestKeys;
import dev.writ.surfaces.mcp.McpTestServer.Client;
import dev.writ.surfaces.mcp.McpTestServer.Reply;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Version 2026-07-28: each request stands for itself; and the batches of the oldest versions. */
class TheVersionWithoutSessionsTest {
  private static final String VERSION = "2026-07-28";

  @TempDir static Path dir;
  private static McpTestServer server;

  @BeforeAll
  static void start() {
    server = new McpTestServer(dir);
  }

  @AfterEach
  void nothingUnforeseen() {
    assertThat(server.failures).isEmpty();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String meta(String capabilities, String more) {
    return "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\""
        + VERSION
        + "\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"},"
        + "\"io.modelcontextprotocol/clientCapabilities\":"
        + capabilities
        + more
        + "}";
  }

  private static String message(String method, String params) {
    return "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\""
        + method
        + "\",\"params\":{"
        + params
        + "}}";
  }

  private static HttpRequest.Builder headed(String token, String method, String name) {
    HttpRequest.Builder request =
        server.as(token).header("MCP-Protocol-Version", VERSION).header("Mcp-Method", method);
    return name.isEmpty() ? request : request.header("Mcp-Name", name);
  }

  private static Reply ask(String token, String method, String name, String params) {
    return server.send(
        McpTestServer.json(
            headed(token, method, name), McpTestServer.bytes(message(method, params))));
  }

  /** The last message of a stream, or the only one of an answer. */
  private static JsonValue.Obj last(Reply reply) {
    List<JsonValue.Obj> all = messages(reply);
    return all.getLast();
  }

  private static List<JsonValue.Obj> messages(Reply reply) {
    if (!reply.header("Content-Type").equals("text/event-stream")) {
      return List.of(reply.json());
    }
    return reply
        .text()
        .lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> (JsonValue.Obj) Jcs.parse(line.substring(6).getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  private static JsonValue.Obj result(Reply reply) {
    return (JsonValue.Obj) last(reply).get("result");
  }

  private static String told(JsonValue.Obj result, String key) {
    JsonValue value = ((JsonValue.Obj) result.get("_meta")).get("dev.writ/" + key);
    return value instanceof JsonValue.Str text ? text.value() : String.valueOf(value);
  }

  private static JsonValue.Obj call(String token, String tool, String arguments, String more) {
    return result(
        ask(
            token,
            "tools/call",
            tool,
            "\"name\":\"" + tool + "\",\"arguments\":" + arguments + "," + more));
  }

  private static String plain() {
    return meta("{}", "");
  }

  private static void approve(String request) {
    server.home.approve(server.home.document(Digest.parse(request)), "rita");
  }

  /** Such a call has a thread of its own, which a question to its client may outlive. */
  @Test
  void aCallsEffectIsSeenAsPartOfItsCall() {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (String accept : List.of("application/json, text/event-stream", "application/json")) {
      server.traces.clear();
      Reply reply =
          server.send(
              McpTestServer.json(
                  headed("alice", "tools/call", "calc")
                      .setHeader("Accept", accept)
                      .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01"),
                  McpTestServer.bytes(
                      message("tools/call", "\"name\":\"calc\",\"arguments\":{}," + plain()))));
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      assertThat(server.traces).as(accept).containsExactly(trace);
    }
  }

  @Test
  void aServerIsDiscoveredAndListsWithoutInitialize() {
    Reply discovered = ask("alice", "server/discover", "", plain());
    assertThat(discovered.status()).isEqualTo(200);
    assertThat(discovered.header("Mcp-Session-Id")).isEmpty();
    assertThat(discovered.text())
        .contains(
            "\"resultType\":\"complete\"",
            "\"2026-07-28\"",
            "\"2025-11-25\"",
            "\"ttlMs\":3600000",
            "\"cacheScope\":\"public\"",
            "io.modelcontextprotocol/serverInfo");
    Reply tools = ask("alice", "tools/list", "", plain());
    assertThat(tools.text())
        .contains("\"calc_do\"", "\"ttlMs\":", "\"cacheScope\":\"private\"", "\"complete\"");
    assertThat(ask("bob", "tools/list", "", plain()).text()).doesNotContain("\"calc_do\"");
    assertThat(ask("alice", "resources/templates/list", "", plain()).text()).contains("writ://");
  }

  @Test
  void callsOfOneCredentialAreInOneRunAndOthersInTheirs() {
    JsonValue.Obj first = call("alice", "calc_do", "{\"n\":1}", plain());
    assertThat(first.get("resultType")).isEqualTo(JsonValue.of("complete"));
    assertThat(first.get("isError")).isEqualTo(JsonValue.FALSE);
    JsonValue.Obj second = call("alice", "calc_do", "{\"n\":1}", plain());
    assertThat(told(second, "run")).isEqualTo(told(first, "run")).startsWith("mcp-");
    assertThat(told(second, "receipt")).isNotEqualTo(told(first, "receipt"));
    assertThat(told(call("second", "calc_do", "{}", plain()), "run"))
        .isNotEqualTo(told(first, "run"));
    String named = meta("{}", ",\"dev.writ/run\":\"case-1\"");
    assertThat(told(call("alice", "calc_do", "{}", named), "run"))
        .isEqualTo(told(first, "run") + "-case-1");
    Reply odd = ask("alice", "tools/list", "", meta("{}", ",\"dev.writ/run\":\"../../etc\""));
    assertThat(odd.status()).isEqualTo(400);
    assertThat(odd.error()).isEqualTo(-32602);
  }

  @Test
  void aClosedRunIsFollowedByTheNext() {
    String run = told(call("eve", "calc_do", "{}", plain()), "run");
    server.closeRun(TestKeys.OTHER_TENANT, run);
    String next = told(call("eve", "calc_do", "{}", plain()), "run");
    assertThat(next).isEqualTo(run + ".2");
    server.closeRun(TestKeys.OTHER_TENANT, next);
    assertThat(told(call("eve", "calc_do", "{}", plain()), "run")).isEqualTo(run + ".3");
  }

  @Test
  void anEqualCallAfterAnApprovalIsTheRequestThatWaited() {
    JsonValue.Obj waits = call("alice", "pay_do", "{\"amount\":5}", plain());
    assertThat(told(waits, "verdict")).isEqualTo("ESCALATE");
    assertThat(waits.get("isError")).isEqualTo(JsonValue.TRUE);
    String request = told(waits, "request");
    assertThat(told(call("alice", "pay_do", "{\"amount\":5}", plain()), "request"))
        .isEqualTo(request);
    assertThat(told(call("alice", "pay_do", "{\"amount\":6}", plain()), "request"))
        .isNotEqualTo(request);
    approve(request);
    JsonValue.Obj served = call("alice", "pay_do", "{\"amount\":5}", plain());
    assertThat(told(served, "request")).isEqualTo(request);
    assertThat(served.get("isError")).isEqualTo(JsonValue.FALSE);
    assertThat(told(call("alice", "pay_do", "{\"amount\":5}", plain()), "request"))
        .isNotEqualTo(request);
  }

  @Test
  void aClientThatShowsFormsIsAskedToGoOnAndTheAnswerIsNoApproval() {
    String forms = meta("{\"elicitation\":{}}", "");
    JsonValue.Obj waits = call("alice", "pay_do", "{\"form\":1}", forms);
    assertThat(waits.get("resultType")).isEqualTo(JsonValue.of("input_required"));
    assertThat(waits.get("inputRequests").toString())
        .contains("elicitation/create", "writ approve " + told(waits, "request"));
    String state = ((JsonValue.Str) waits.get("requestState")).value();
    String goesOn =
        "\"requestState\":\""
            + state
            + "\",\"inputResponses\":{\"approval\":{\"action\":\"accept\"}},"
            + forms;
    JsonValue.Obj declined =
        call("alice", "pay_do", "{\"form\":1}", goesOn.replace("accept", "decline"));
    assertThat(declined.get("resultType")).isEqualTo(JsonValue.of("complete"));
    assertThat(told(declined, "verdict")).isEqualTo("ESCALATE");
    for (String[] other :
        new String[][] {
          {"alice", "pay_do", "{\"form\":2}"},
          {"alice", "mail_do", "{\"form\":1}"},
          {"eve", "pay_do", "{\"form\":1}"}
        }) {
      Reply stolen =
          ask(
              other[0],
              "tools/call",
              other[1],
              "\"name\":\"" + other[1] + "\",\"arguments\":" + other[2] + "," + goesOn);
      assertThat(last(stolen).toString()).as(other[1]).contains("GWY-160", "-32602");
    }
    approve(state);
    JsonValue.Obj served = call("alice", "pay_do", "{\"form\":1}", goesOn);
    assertThat(served.get("isError")).isEqualTo(JsonValue.FALSE);
    assertThat(told(served, "request")).isEqualTo(state);
  }

  @Test
  void whatTheHeadersSayMustBeWhatTheMessageSays() {
    String body = message("tools/call", "\"name\":\"calc_do\",\"arguments\":{}," + plain());
    String[][] wrong = {
      {"tools/list", "calc_do", VERSION},
      {"tools/call", "mail_do", VERSION},
      {"tools/call", "", VERSION},
      {"tools/call", "=?base64?!!!?=", VERSION},
      {"tools/call", "calc_do", "2025-11-25"},
    };
    for (String[] heads : wrong) {
      HttpRequest.Builder request =
          server
              .as("alice")
              .header("MCP-Protocol-Version", heads[2])
              .header("Mcp-Method", heads[0]);
      if (!heads[1].isEmpty()) {
        request.header("Mcp-Name", heads[1]);
      }
      Reply reply = server.send(McpTestServer.json(request, McpTestServer.bytes(body)));
      assertThat(reply.status()).as(String.join(" ", heads)).isEqualTo(400);
      assertThat(reply.error()).isEqualTo(-32020);
      assertThat(reply.text()).contains("\"id\":7", "GWY-158");
    }
    String encoded =
        "=?base64?"
            + Base64.getEncoder().encodeToString("calc_do".getBytes(StandardCharsets.UTF_8))
            + "?=";
    Reply fits =
        server.send(
            McpTestServer.json(headed("alice", "tools/call", encoded), McpTestServer.bytes(body)));
    assertThat(result(fits).get("isError")).isEqualTo(JsonValue.FALSE);
    Reply none = server.send(McpTestServer.json(server.as("alice"), McpTestServer.bytes(body)));
    assertThat(none.error()).isEqualTo(-32020);
  }

  @Test
  void whatEachRequestMustSayIsRequired() {
    Reply nothing = ask("alice", "tools/list", "", "\"x\":1");
    assertThat(nothing.status()).isEqualTo(400);
    assertThat(nothing.error()).isEqualTo(-32602);
    Reply incapable =
        ask(
            "alice",
            "tools/list",
            "",
            plain().replace("\"io.modelcontextprotocol/clientCap", "\"x"));
    assertThat(incapable.status()).isEqualTo(400);
    assertThat(incapable.error()).isEqualTo(-32602);
    Reply other =
        server.send(
            McpTestServer.json(
                server
                    .as("alice")
                    .header("MCP-Protocol-Version", "1900-01-01")
                    .header("Mcp-Method", "tools/list"),
                McpTestServer.bytes(
                    message("tools/list", plain().replace(VERSION, "1900-01-01")))));
    assertThat(other.status()).isEqualTo(400);
    assertThat(other.error()).isEqualTo(-32022);
    assertThat(other.text())
        .contains("\"requested\":\"1900-01-01\"", "\"supported\":[\"2026-07-28\"");
    for (String gone : List.of("ping", "initialize", "logging/setLevel", "resources/subscribe")) {
      Reply reply = ask("alice", gone, "", plain());
      assertThat(reply.status()).as(gone).isEqualTo(404);
      assertThat(reply.error()).as(gone).isEqualTo(-32601);
    }
    Reply absent =
        ask(
            "alice",
            "resources/read",
            "writ://receipts/none",
            "\"uri\":\"writ://receipts/none\"," + plain());
    assertThat(absent.error()).isEqualTo(-32602);
  }

  @Test
  void progressComesBeforeTheAnswerWhereItIsAskedFor() {
    JsonValue.Obj quiet = call("alice", "calc_do", "{}", plain());
    assertThat(quiet.get("isError")).isEqualTo(JsonValue.FALSE);
    Reply reply =
        ask(
            "alice",
            "tools/call",
            "calc_do",
            "\"name\":\"calc_do\",\"arguments\":{}," + meta("{}", ",\"progressToken\":\"p\""));
    List<JsonValue.Obj> all = messages(reply);
    assertThat(all.getFirst().get("method")).isEqualTo(JsonValue.of("notifications/progress"));
    assertThat(all.getFirst().toString()).contains("progressToken");
    assertThat(all.getLast().get("id")).isEqualTo(JsonValue.of(7));
    assertThat(all.subList(0, all.size() - 1)).allSatisfy(m -> assertThat(m.get("id")).isNull());
  }

  private static void await(CyclicBarrier both) {
    try {
      both.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void callsOfOneCredentialRunSideBySide() throws Exception {
    CyclicBarrier both = new CyclicBarrier(2);
    server.home.driver.does(
        "mail",
        invocation -> {
          await(both);
          return Behaviours.echo(invocation);
        });
    try {
      Thread other = Thread.ofVirtual().start(() -> call("alice", "mail_do", "{\"n\":1}", plain()));
      JsonValue.Obj one = call("alice", "mail_do", "{\"n\":2}", plain());
      other.join();
      assertThat(one.get("isError")).isEqualTo(JsonValue.FALSE);
      Client session = server.client("alice");
      Thread third = Thread.ofVirtual().start(() -> session.call("mail_do", "{\"n\":3}"));
      assertThat(session.call("mail_do", "{\"n\":4}").isError()).isFalse();
      third.join();
    } finally {
      server.home.driver.does("mail", Behaviours::echo);
    }
  }

  @Test
  void batchesAreAnsweredInTheVersionsThatHaveThem() {
    Client old = server.client("alice", "2025-03-26");
    Reply reply =
        old.post(
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},"
                + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                + "\"calc_do\",\"arguments\":{}}},7,"
                + "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"initialize\"}]");
    assertThat(reply.status()).isEqualTo(200);
    JsonValue.Arr answers = (JsonValue.Arr) Jcs.parse(reply.body());
    assertThat(answers.items()).hasSize(4);
    assertThat(reply.text()).contains("\"isError\":false", "\"id\":null", "-32600");
    assertThat(old.post("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]").status())
        .isEqualTo(202);
    assertThat(old.post("[]").text()).contains("GWY-151");
    assertThat(old.post("[" + "7,".repeat(64) + "7]").text()).contains("GWY-151");
    Client newer = server.client("alice", "2025-06-18");
    assertThat(newer.post("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]").text())
        .contains("GWY-151", "2025-06-18");
  }

  @Test
  void aCallThatIsCancelledEndsItsToolAndLeavesAReceipt() throws Exception {
    CountDownLatch runs = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    server.home.driver.does(
        "sim",
        invocation -> {
          runs.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            ended.countDown();
            return Behaviours.fails().run(invocation);
          }
          throw new IllegalStateException();
        });
    try {
      Client session = server.client("alice");
      Thread waiting =
          Thread.ofVirtual()
              .start(() ->
                  session.post(
                      "{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"tools/call\",\"params\":"
                          + "{\"name\":\"sim_do\",\"arguments\":{\"long\":1}}}"));
      assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
      session.post(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
              + "{\"requestId\":\"of another\"}}");
      assertThat(ended.getCount()).isEqualTo(1);
      session.post(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
              + "{\"requestId\":\"long\"}}");
      assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
      waiting.join();
      assertThat(session.ask("resources/list", "{}").text()).contains("writ://receipts/");
    } finally {
      server.home.driver.does("sim", Behaviours::echo);
    }
  }

  @Test
  void aClosedAnswerCancelsACallWithoutASession() throws Exception {
    CountDownLatch runs = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    server.home.driver.does("sim", untilInterrupted(runs, ended));
    try {
      HttpRequest request =
          McpTestServer.json(
                  headed("alice", "tools/call", "sim_do"),
                  McpTestServer.bytes(
                      message("tools/call", "\"name\":\"sim_do\",\"arguments\":{}," + plain())))
              .build();
      try (HttpClient client = HttpClient.newHttpClient()) {
        InputStream answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream()).body();
        assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
        answer.close();
        assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
      }
    } finally {
      server.home.driver.does("sim", Behaviours::echo);
    }
  }

  /**
   * As in an answer that is no stream: whoever runs the server learns of it, the client does not.
   */
  @Test
  void anUnexpectedExceptionInAStreamIsToldToTheServersFailuresAndAnsweredWithoutIt() {
    server.breaks = Optional.of(new IllegalStateException("secret-of-the-inside"));
    Reply reply;
    try {
      reply =
          ask(
              "alice",
              "tools/call",
              "calc_do",
              "\"name\":\"calc_do\",\"arguments\":{\"streamed\":1}," + plain());
    } finally {
      server.breaks = Optional.empty();
    }
    assertThat(reply.header("Content-Type")).isEqualTo("text/event-stream");
    JsonValue.Obj last = last(reply);
    assertThat(last.get("id")).isEqualTo(JsonValue.of(7));
    JsonValue.Obj error = (JsonValue.Obj) last.get("error");
    assertThat(error.get("code")).isEqualTo(JsonValue.of(-32603));
    assertThat(((JsonValue.Obj) error.get("data")).get("code")).isEqualTo(JsonValue.of("GWY-070"));
    assertThat(reply.text()).doesNotContain("secret-of-the-inside", "IllegalState");
    assertThat(server.failures).singleElement().isInstanceOf(IllegalStateException.class);
    server.failures.clear();
  }

  private static TestDriver.Behaviour untilInterrupted(CountDownLatch runs, CountDownLatch ended) {
    return invocation -> {
      runs.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        ended.countDown();
        return Behaviours.fails().run(invocation);
      }
      throw new IllegalStateException();
    };
  }

  @Test
  void aSessionWhoseClientShowsFormsIsAskedOnTheCallsOwnStream() throws Exception {
    Reply initialized =
        server.send(
            McpTestServer.json(
                server.as("alice"),
                McpTestServer.bytes(
                    McpTestServer.INITIALIZE.replace(
                        "\"capabilities\":{}", "\"capabilities\":{\"elicitation\":{}}"))));
    Client session = server.new Client("alice", initialized.header("Mcp-Session-Id"), initialized);
    for (String action : List.of("decline", "accept")) {
      HttpRequest call =
          McpTestServer.json(
                  session.request(),
                  McpTestServer.bytes(
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                          + "\"pay_do\",\"arguments\":{\"asked\":1}}}"))
              .build();
      try (HttpClient client = HttpClient.newHttpClient();
          BufferedReader lines =
              new BufferedReader(
                  new InputStreamReader(
                      client.send(call, HttpResponse.BodyHandlers.ofInputStream()).body(),
                      StandardCharsets.UTF_8))) {
        JsonValue.Obj question = next(lines);
        assertThat(question.get("method")).isEqualTo(JsonValue.of("elicitation/create"));
        String request =
            question.toString().replaceAll("(?s).*approve (sha256:[0-9a-f]{64}).*", "$1");
        if (action.equals("accept")) {
          approve(request);
        }
        Reply told =
            session.post(
                "{\"jsonrpc\":\"2.0\",\"id\":\""
                    + ((JsonValue.Str) question.get("id")).value()
                    + "\",\"result\":{\"action\":\""
                    + action
                    + "\"}}");
        assertThat(told.status()).isEqualTo(202);
        JsonValue.Obj result = (JsonValue.Obj) next(lines).get("result");
        assertThat(told(result, "request")).isEqualTo(request);
        assertThat(result.get("isError")).isEqualTo(JsonValue.of(action.equals("decline")));
      }
    }
  }

  private static JsonValue.Obj next(BufferedReader lines) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("data: ")) {
        return (JsonValue.Obj) Jcs.parse(line.substring(6).getBytes(StandardCharsets.UTF_8));
      }
    }
    throw new AssertionError("the stream ended");
  }

  @Test
  void whoListensIsToldThatItsToolsAreOthers() throws Exception {
    HttpRequest listen =
        McpTestServer.json(
                headed("alice", "subscriptions/listen", ""),
                McpTestServer.bytes(
                    message(
                        "subscriptions/listen",
                        "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true},"
                            + plain())))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      InputStream answer = client.send(listen, HttpResponse.BodyHandlers.ofInputStream()).body();
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(answer, StandardCharsets.UTF_8))) {
        JsonValue.Obj acknowledged = next(lines);
        assertThat(acknowledged.toString())
            .contains("notifications/subscriptions/acknowledged", "toolsListChanged")
            .doesNotContain("promptsListChanged");
        server.activate(
            McpTestServer.POLICY.replace(
                "tools: [calc, mail, pay, sim]", "tools: [calc, mail, pay]"));
        assertThat(next(lines).get("method"))
            .isEqualTo(JsonValue.of("notifications/tools/list_changed"));
      } finally {
        server.activate(McpTestServer.POLICY);
      }
    }
  }
}
