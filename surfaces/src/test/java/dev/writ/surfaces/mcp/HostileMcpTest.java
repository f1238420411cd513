package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.surfaces.mcp.McpTestServer.Client;
import dev.writ.surfaces.mcp.McpTestServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No 500, nothing of another tenant's or principal's, and the server goes on serving. */
class HostileMcpTest {
  private static final String SECRET = "the-secret-of-eve";
  private static final int ROUNDS = Integer.getInteger("writ.rounds", 1000);
  private static final long SEED = Long.getLong("writ.seed", 20261122);

  @TempDir Path dir;
  private McpTestServer server;
  private Client eve;
  private List<String> messages;

  @BeforeEach
  void start() {
    server = new McpTestServer(dir);
    eve = server.client("eve");
    Reply secret = eve.call("mail_do", "{\"s\":\"" + SECRET + "\"}");
    assertThat(secret.text()).contains(SECRET);
    Reply waits = eve.call("pay_do", "{\"s\":\"" + SECRET + "\"}");
    messages =
        List.of(
            McpTestServer.INITIALIZE,
            message("ping", "{}"),
            message("tools/list", "{}"),
            message("tools/call", "{\"name\":\"calc_do\",\"arguments\":{\"n\":1,\"s\":\"é\"}}"),
            message(
                "tools/call",
                "{\"name\":\"writ_outcome\",\"arguments\":{\"request\":\""
                    + waits.meta("request")
                    + "\"}}"),
            message("resources/list", "{\"cursor\":\"x\"}"),
            message("resources/templates/list", "{}"),
            message(
                "resources/read", "{\"uri\":\"writ://receipts/" + secret.meta("receipt") + "\"}"),
            message(
                "resources/read",
                "{\"uri\":\"writ://receipts/" + secret.meta("receipt") + "/output\"}"),
            message("resources/read", "{\"uri\":\"writ://runs/" + eve.run() + "/bundle\"}"),
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}");
  }

  private static String message(String method, String params) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}";
  }

  @AfterEach
  void stillServingAndNothingUnforeseen() {
    assertThat(server.failures).isEmpty();
    assertThat(eve.call("calc_do", "{}").isError()).isFalse();
    assertThat(server.drained()).as("no place is lost").isTrue();
    server.close();
  }

  private static void harmless(Reply reply, String sent) {
    assertThat(reply.status()).as(sent).isIn(200, 202, 400, 404, 413);
    assertThat(reply.text())
        .as(sent)
        .doesNotContain(SECRET)
        .doesNotContain("Exception")
        .doesNotContain("dev.writ.gateway")
        .doesNotContain("modelcontextprotocol")
        .doesNotContain("jackson")
        .doesNotContain("\tat ");
  }

  @Test
  void whateverIsSentIsAnsweredInOrder() throws Exception {
    System.out.println("mutations of MCP messages: -Dwrit.seed=" + SEED);
    Random random = new Random(SEED);
    Client alice = server.client("alice");
    TreeMap<Integer, Integer> statuses = new TreeMap<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<Reply>> replies = new ArrayList<>();
      List<byte[]> sent = new ArrayList<>();
      for (int i = 0; i < ROUNDS; i++) {
        byte[] body = mutate(messages.get(random.nextInt(messages.size())), random);
        sent.add(body);
        replies.add(threads.submit(() -> server.send(McpTestServer.json(alice.request(), body))));
      }
      for (int i = 0; i < ROUNDS; i++) {
        Reply reply = replies.get(i).get();
        harmless(reply, new String(sent.get(i), StandardCharsets.UTF_8));
        statuses.merge(reply.status(), 1, Integer::sum);
      }
    }
    System.out.println(statuses);
    assertThat(statuses.get(200)).as("mutations that are still messages").isGreaterThan(50);
    assertThat(statuses.get(400)).as("mutations that are none").isGreaterThan(50);
  }

  private static final List<String> PIECES =
      List.of(
          "null",
          "true",
          "[]",
          "{}",
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "\\",
          "\\u0000",
          "\\ud800",
          "1e999",
          "-0",
          "99999999999999999999999999",
          "0.1",
          "\"\"",
          "\n",
          " ",
          "é",
          "\u0000",
          "\"params\":",
          "\"id\":2,",
          "\"method\":\"initialize\",",
          "../",
          "%2e%2e/",
          "%00",
          "{\"a\":".repeat(90),
          "[".repeat(200),
          "x".repeat(3000));

  private static byte[] mutate(String message, Random random) {
    StringBuilder text = new StringBuilder(message);
    boolean staysJson = random.nextBoolean();
    for (int n = 1 + random.nextInt(3); n > 0 && !text.isEmpty(); n--) {
      int at = random.nextInt(text.length());
      int to = Math.min(text.length(), at + 1 + random.nextInt(8));
      switch (staysJson ? 9 : random.nextInt(6)) {
        case 0 -> text.setCharAt(at, (char) (random.nextInt(0x80)));
        case 1 -> text.delete(at, to);
        case 2 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
        case 3 -> text.insert(at, text.substring(at, to));
        case 4 -> text.setLength(Math.max(1, at));
        default -> replaceValue(text, random);
      }
    }
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    if (!staysJson && bytes.length > 0 && random.nextInt(10) == 0) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return bytes;
  }

  /** Keeps the JSON whole: another value behind one of the colons. */
  private static void replaceValue(StringBuilder text, Random random) {
    List<Integer> colons = new ArrayList<>();
    for (int i = text.indexOf("\":"); i >= 0; i = text.indexOf("\":", i + 1)) {
      colons.add(i + 2);
    }
    if (colons.isEmpty()) {
      return;
    }
    // Mostly among the params: another jsonrpc, id or method is refused at once.
    int least = random.nextInt(5) == 0 ? 0 : Math.min(3, colons.size() - 1);
    int from = colons.get(random.nextInt(least, colons.size()));
    int to = from;
    while (to < text.length() && text.charAt(to) != ',' && text.charAt(to) != '}') {
      to++;
    }
    List<String> values =
        List.of(
            "null", "7", "-1", "1.5", "\"\"", "\"x\"", "[]", "{}", "true", "[[[]]]", "{\"a\":1}");
    text.replace(from, to, values.get(random.nextInt(values.size())));
  }

  @Test
  void nothingOfAnotherTenantIsToldToTheUnchangedMessagesEither() {
    for (String name : List.of("alice", "bob", "second")) {
      Client stranger = server.client(name);
      for (String message : messages) {
        harmless(
            server.send(McpTestServer.json(stranger.request(), McpTestServer.bytes(message))),
            message);
        Reply stolen =
            server.send(
                McpTestServer.json(
                    server.as(name).header("Mcp-Session-Id", eve.session),
                    McpTestServer.bytes(message)));
        assertThat(stolen.status()).isEqualTo(message.contains("initialize") ? 200 : 404);
        harmless(stolen, message);
      }
    }
    assertThat(server.home.driver.runs())
        .as("what waited was not run")
        .noneMatch(run -> run.tool().equals("pay"));
  }
}
