package dev.writ.cli.cells;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.sandbox.testing.TestTls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The world that effects act on: counts how often each was done, whatever a ledger says. */
final class CountingServer implements AutoCloseable {
  private final HttpsServer server;
  private final ConcurrentSkipListMap<String, Integer> done = new ConcurrentSkipListMap<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger mostAtOnce = new AtomicInteger();
  private volatile CountDownLatch gate = new CountDownLatch(0);

  /**
   * @param authority gets the certificate of its authority
   */
  CountingServer(Path authority) throws IOException {
    TestTls tls = TestTls.forNames("localhost");
    Files.write(authority, tls.authority());
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls.server()));
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/effect/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String id = exchange.getRequestURI().getPath().substring("/effect/".length());
    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    } finally {
      atOnce.decrementAndGet();
    }
    done.merge(id, 1, Integer::sum);
    byte[] body = ("{\"done\":\"" + id + "\"}").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  /** Has what comes wait until {@link #open}. */
  void shut() {
    gate = new CountDownLatch(1);
  }

  void open() {
    gate.countDown();
  }

  /** How many effects are being done. */
  int atOnce() {
    return atOnce.get();
  }

  /** The most that were done at once. */
  int mostAtOnce() {
    return mostAtOnce.get();
  }

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
