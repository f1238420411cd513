package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.http.TestApi;
import dev.writ.tools.http.TestApi.Asked;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.net.ssl.SSLContext;

/** An MCP server over HTTP of the test's own, honest unless a test has it lie. */
public final class TestMcp implements AutoCloseable {
  private final boolean modern;
  private final String version;
  private final String host;
  private final TestApi api;
  private final AtomicInteger sessions = new AtomicInteger();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile Lie lie = (_, _, _, _) -> false;
  private volatile String description = "Adds two numbers.";
  private volatile String schema =
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},"
          + "\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]}";

  /** What a test has the server do otherwise. */
  @FunctionalInterface
  public interface Lie {
    /** Whether it answered. */
    boolean tell(Asked asked, JsonValue.Obj message, OutputStream out, Socket socket)
        throws IOException;
  }

  private TestMcp(
      boolean modern, String version, String host, Function<TestApi.Handler, TestApi> open) {
    this.modern = modern;
    this.version = version;
    this.host = host;
    this.api = open.apply(this::answer);
  }

  public static TestMcp stateless() {
    return new TestMcp(true, "2026-07-28", "http://127.0.0.1", TestApi::plain);
  }

  /** Over TLS, under a name. */
  public static TestMcp secure(SSLContext identity, String name) {
    return new TestMcp(
        true, "2026-07-28", "https://" + name, handler -> TestApi.secure(identity, handler));
  }

  public static TestMcp withSessions(String version) {
    return new TestMcp(false, version, "http://127.0.0.1", TestApi::plain);
  }

  public TestMcp lying(Lie other) {
    lie = other;
    return this;
  }

  /** Lies in the answers to one method alone. */
  public TestMcp lyingAt(String method, Lie other) {
    return lying((asked, message, out, socket) ->
        JsonValue.of(method).equals(message.get("method"))
            && other.tell(asked, message, out, socket));
  }

  public void describe(String text) {
    description = text;
  }

  public void schema(String json) {
    schema = json;
  }

  /** Forgets all sessions. */
  public void forget() {
    sessions.incrementAndGet();
  }

  public String url() {
    return host + ":" + api.port() + "/mcp";
  }

  public List<Asked> asked() {
    return api.asked();
  }

  /** The requests of a method, in their order. */
  public List<Asked> asked(String method) {
    return api.asked().stream()
        .filter(a -> JsonValue.of(method).equals(parse(a).get("method")))
        .toList();
  }

  public static JsonValue.Obj parse(Asked asked) {
    return asked.content().length == 0
        ? JsonValue.object().build()
        : (JsonValue.Obj) Jcs.parse(asked.content());
  }

  public static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  private String session() {
    return "session-" + sessions.get();
  }

  private void answer(Asked asked, OutputStream out, Socket socket) throws IOException {
    JsonValue.Obj message = parse(asked);
    if (lie.tell(asked, message, out, socket)) {
      return;
    }
    if (asked.line().startsWith("DELETE")) {
      ended.countDown();
      TestApi.write(out, TestApi.message("204 Gone", "text/plain", ""));
    } else if (!asked.line().startsWith("POST")) {
      TestApi.write(out, TestApi.message("405 No", "text/plain", "no stream here"));
    } else if (modern) {
      stateless(asked, message, out);
    } else {
      session(asked, message, out);
    }
  }

  /** Waits until a session was ended by its client. */
  public void awaitEnd() throws InterruptedException {
    ended.await();
  }

  private void stateless(Asked asked, JsonValue.Obj message, OutputStream out) throws IOException {
    String method = ((JsonValue.Str) message.get("method")).value();
    boolean headers =
        asked.field("MCP-Protocol-Version").equals(version)
            && asked.field("Mcp-Method").equals(method);
    if (!headers) {
      TestApi.write(out, TestApi.message("400 No", "application/json", error(message, -32020)));
    } else {
      String result =
          switch (method) {
            case "server/discover" ->
                "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
                    + "\"capabilities\":{\"tools\":{}},\"_meta\":"
                    + "{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"t\",\"version\":\"1\"}},"
                    + "\"ttlMs\":0,\"cacheScope\":\"public\"}";
            case "tools/list" -> list();
            case "tools/call" -> sum(message);
            default -> "";
          };
      TestApi.write(
          out,
          result.isEmpty()
              ? TestApi.message("404 No", "application/json", error(message, -32601))
              : TestApi.message("200 OK", "application/json", result(message, result)));
    }
  }

  private void session(Asked asked, JsonValue.Obj message, OutputStream out) throws IOException {
    if (message.get("id") == null || message.get("method") == null) {
      TestApi.write(out, TestApi.message("202 Taken", "text/plain", ""));
      return;
    }
    String method = ((JsonValue.Str) message.get("method")).value();
    if (method.equals("initialize")) {
      String result =
          "{\"protocolVersion\":\""
              + version
              + "\",\"capabilities\":{\"tools\":{\"listChanged\":true}},"
              + "\"serverInfo\":{\"name\":\"t\",\"version\":\"1\"}}";
      TestApi.write(
          out,
          TestApi.message("200 OK", "application/json", result(message, result))
              .replace("\r\n\r\n", "\r\nMcp-Session-Id: " + session() + "\r\n\r\n"));
    } else if (asked.field("Mcp-Session-Id").isEmpty()) {
      TestApi.write(out, TestApi.message("400 No", "application/json", error(message, -32000)));
    } else if (!asked.field("Mcp-Session-Id").equals(session())) {
      TestApi.write(out, TestApi.message("404 Gone", "application/json", error(message, -32001)));
    } else {
      String result = method.equals("tools/list") ? list() : sum(message);
      TestApi.write(out, events(event("", result(message, result))));
    }
  }

  private String list() {
    return "{\"tools\":[{\"name\":\"add\",\"description\":\""
        + description
        + "\",\"inputSchema\":"
        + schema
        + "}],\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"public\"}";
  }

  private static String sum(JsonValue.Obj message) {
    JsonValue.Obj arguments =
        (JsonValue.Obj) ((JsonValue.Obj) message.get("params")).get("arguments");
    long sum = number(arguments, "a") + number(arguments, "b");
    return said(sum + "");
  }

  /** The result of a call that says a text. */
  public static String said(String text) {
    return "{\"content\":[{\"type\":\"text\",\"text\":"
        + json(JsonValue.of(text))
        + "}],\"resultType\":\"complete\"}";
  }

  private static long number(JsonValue.Obj arguments, String name) {
    return (long) ((JsonValue.Num) arguments.get(name)).value();
  }

  /** The answer to a message. */
  public static String result(JsonValue.Obj message, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + json(message.get("id")) + ",\"result\":" + result + "}";
  }

  public static String error(JsonValue.Obj message, int code) {
    return "{\"jsonrpc\":\"2.0\",\"id\":"
        + json(message.get("id"))
        + ",\"error\":{\"code\":"
        + code
        + ",\"message\":\"no\"}}";
  }

  public static String event(String id, String data) {
    return (id.isEmpty() ? "" : "id: " + id + "\n") + "data: " + data + "\n\n";
  }

  /** The head of a stream, and some of it; it ends with the connection. */
  public static String events(String text) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + text;
  }

  /** Ends it, and has its port refuse until that is closed. */
  public Socket leave() {
    return api.leave();
  }

  @Override
  public void close() {
    api.close();
  }
}
