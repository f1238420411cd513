package dev.writ.tools.browser;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A web server of this machine, and what it was asked for. */
final class WebServer implements AutoCloseable {
  /** Answers one request. */
  @FunctionalInterface
  interface Answer {
    void to(HttpExchange exchange) throws IOException;
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<String> asked = new CopyOnWriteArrayList<>();

  private WebServer(HttpServer server) {
    this.server = server;
  }

  static WebServer start() {
    try {
      HttpServer http =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      WebServer server = new WebServer(http);
      http.setExecutor(server.threads);
      http.start();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  WebServer on(String path, Answer answer) {
    server.createContext(
        path,
        exchange -> {
          asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          try (exchange) {
            answer.to(exchange);
          }
        });
    return this;
  }

  WebServer page(String path, String html) {
    return on(path, exchange -> send(exchange, 200, "text/html; charset=utf-8", html));
  }

  static void send(HttpExchange exchange, int status, String type, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** {@code 127.0.0.1:port}. */
  String place() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  String url(String path) {
    return "http://" + place() + path;
  }

  List<String> asked() {
    return List.copyOf(asked);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
