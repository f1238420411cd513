package dev.writ.cli.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/**
 * What may stand between a client and the server: {@code /FAULT/NAME/…} is {@code /…} of the server
 * with that fault, each name by itself.
 */
final class FaultyProxy implements AutoCloseable {
  private static final List<String> PASSED_ON =
      List.of("Content-Type", "Authorization", "Accept", "Last-Event-ID");

  private final HttpServer server;
  private final String target;
  private final JsonValue.Obj other;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ConcurrentHashMap<String, Integer> calls = new ConcurrentHashMap<>();

  /**
   * @param other the whole answer of another effect, signed as any is
   */
  FaultyProxy(String target, JsonValue.Obj other) throws IOException {
    this.target = target;
    this.other = other;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::handle);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** An address at which nobody listens. */
  static String nobody() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "http://127.0.0.1:" + socket.getLocalPort();
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String[] parts = exchange.getRequestURI().toString().split("/", 4);
      int count = calls.merge(parts[1] + "/" + parts[2], 1, Integer::sum);
      switch (parts[1]) {
        case "bad-gateway" -> badGateway(exchange);
        case "no-json" -> send(exchange, 200, "text/html", "<p>welcome".getBytes(UTF_8), false);
        case "busy-once",
            "bad-gateway-once",
            "lose-answer",
            "cut-events",
            "quiet-events",
            "silent-events" ->
            sometimes(parts[1], count, exchange, parts[3]);
        default -> {
          HttpResponse<InputStream> answer = forward(exchange, parts[3]);
          byte[] body = answer.body().readAllBytes();
          boolean effect = exchange.getRequestMethod().equals("POST");
          send(
              exchange,
              answer.statusCode(),
              type(answer),
              effect ? changed(parts[1], body) : body,
              false);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void sometimes(String fault, int count, HttpExchange exchange, String path)
      throws IOException, InterruptedException {
    if (fault.equals("quiet-events") && count < 9) {
      send(exchange, 200, "text/event-stream", ":\n\n".getBytes(UTF_8), false);
      return;
    }
    if (fault.equals("silent-events") && count == 1) {
      send(exchange, 200, "text/event-stream", ":\n\n".getBytes(UTF_8), true);
      closed.await(); // and nothing more comes
      return;
    }
    boolean effect = exchange.getRequestMethod().equals("POST");
    String once = fault + " " + exchange.getRequestURI();
    boolean first = effect && calls.merge(once, 1, Integer::sum) == 1;
    if (first && fault.equals("busy-once")) {
      exchange.getResponseHeaders().add("Retry-After", "1");
      byte[] busy =
          "{\"code\":\"GWY-026\",\"detail\":\"\",\"status\":503,\"title\":\"busy\"}"
              .getBytes(UTF_8);
      send(exchange, 503, "application/problem+json", busy, false);
    } else if (first && fault.equals("bad-gateway-once")) {
      badGateway(exchange);
    } else {
      HttpResponse<InputStream> answer = forward(exchange, path);
      if (first && fault.equals("lose-answer")) {
        answer.body().readAllBytes(); // the server has done it, and nobody hears of it
        return;
      }
      boolean cut = fault.equals("cut-events") && count < 3;
      byte[] body;
      try (InputStream in = answer.body()) {
        body = cut ? in.readNBytes(400 * count) : in.readAllBytes();
      }
      send(exchange, answer.statusCode(), type(answer), body, cut);
    }
  }

  private static void badGateway(HttpExchange exchange) throws IOException {
    send(exchange, 502, "text/html", "<h1>Bad Gateway".getBytes(UTF_8), false);
  }

  private HttpResponse<InputStream> forward(HttpExchange exchange, String path)
      throws IOException, InterruptedException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(target + "/" + path))
            .method(
                exchange.getRequestMethod(),
                body.length == 0
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body));
    for (String name : PASSED_ON) {
      String value = exchange.getRequestHeaders().getFirst(name);
      if (value != null) {
        request.header(name, value);
      }
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
  }

  private static String type(HttpResponse<?> answer) {
    return answer.headers().firstValue("Content-Type").orElse("application/octet-stream");
  }

  /**
   * @param cut says that more comes, and ends the connection
   */
  private static void send(HttpExchange exchange, int status, String type, byte[] body, boolean cut)
      throws IOException {
    exchange.getResponseHeaders().add("Content-Type", type);
    exchange.sendResponseHeaders(status, body.length + (cut ? 1000 : 0));
    OutputStream out = exchange.getResponseBody();
    out.write(body);
    out.flush();
  }

  private byte[] changed(String fault, byte[] body) {
    JsonValue.Obj answer = (JsonValue.Obj) Jcs.parse(body);
    JsonValue replaced =
        switch (fault) {
          case "other-receipt" -> other.get("receipt");
          case "other-decision" -> other.get("decision");
          case "other-request" -> other.get("request");
          case "other-output" ->
              JsonValue.object().put("json", 2).put("media_type", "application/json").build();
          case "broken-signature" -> broken((JsonValue.Obj) answer.get("receipt"));
          case "no-receipt" -> JsonValue.NULL;
          default -> throw new IllegalArgumentException(fault);
        };
    String member =
        switch (fault) {
          case "other-decision" -> "decision";
          case "other-request" -> "request";
          case "other-output" -> "output";
          default -> "receipt";
        };
    ObjectBuilder changed = JsonValue.object();
    answer
        .members()
        .forEach((name, value) -> {
          if (!name.equals(member)) {
            changed.put(name, value);
          } else if (!replaced.equals(JsonValue.NULL)) {
            changed.put(name, replaced);
          }
        });
    return Jcs.write(changed.build());
  }

  private static JsonValue broken(JsonValue.Obj envelope) {
    String text = new String(Jcs.write(envelope), UTF_8);
    int at = text.indexOf("\"sig\":\"") + 7;
    char first = text.charAt(at) == 'A' ? 'B' : 'A';
    return Jcs.parse((text.substring(0, at) + first + text.substring(at + 1)).getBytes(UTF_8));
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    http.shutdownNow(); // answers that were cut are not awaited
    http.close();
  }
}
