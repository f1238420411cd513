package dev.writ.cli.campaign;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;

/** The world that effects act on: counts how often each was done, whatever the ledger says. */
final class Outside implements AutoCloseable {
  private final HttpServer server;
  private final ConcurrentSkipListMap<String, Integer> done = new ConcurrentSkipListMap<>();

  private Outside(HttpServer server) {
    this.server = server;
  }

  static Outside open() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 64);
    Outside outside = new Outside(server);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/effect/",
        exchange -> {
          String id = exchange.getRequestURI().getPath().substring("/effect/".length());
          outside.done.merge(id, 1, Integer::sum);
          byte[] answer = ("done " + id).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    return outside;
  }

  /** {@code host:port}, as policy names it. */
  String place() {
    return "localhost:" + server.getAddress().getPort();
  }

  int times(String id) {
    return done.getOrDefault(id, 0);
  }

  Map<String, Integer> all() {
    return Map.copyOf(done);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
