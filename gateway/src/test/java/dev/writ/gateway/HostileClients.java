package dev.writ.gateway;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients that want to use up a server on this machine: each holds one connection, and opens it
 * again when it was closed. How often they begin anew altogether, the test says, so that an attack
 * is as large on a slow machine as on a fast one.
 */
final class HostileClients implements AutoCloseable {
  private static final int BODY_BYTES = 8 << 20;
  private static final String POST =
      "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  /** What one connection does. */
  @FunctionalInterface
  interface Way {
    void use(Socket socket, HostileClients all) throws IOException;
  }

  private final int port;
  private final AtomicBoolean stop = new AtomicBoolean();
  private final Semaphore turns = new Semaphore(0);
  private final List<Thread> threads = new ArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final AtomicLong connections = new AtomicLong();

  HostileClients(int port) {
    this.port = port;
  }

  /** Begins this on so many connections, from an address of this machine. */
  HostileClients on(int count, String from, Way way) {
    for (int i = 0; i < count; i++) {
      threads.add(Thread.ofVirtual().start(() -> go(from, way)));
    }
    return this;
  }

  /** From now on so many more connections may be opened, or requests be repeated. */
  void goOn(int times) {
    turns.release(times);
  }

  /** Waits until it may go on. */
  private void turn() throws IOException {
    try {
      turns.acquire();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** How many connections were opened so far. */
  long connections() {
    return connections.get();
  }

  private void go(String from, Way way) {
    for (boolean first = true; !stop.get(); first = false) {
      try (Socket socket = new Socket()) {
        if (!first) {
          turn();
        }
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port), 5_000);
        open.add(socket);
        connections.incrementAndGet();
        way.use(socket, this);
      } catch (IOException e) {
        Thread.yield(); // refused or cut off: once more
      }
      open.removeIf(Socket::isClosed);
    }
  }

  /** A head without its end, of as many fields as fit. */
  static void halfHead(Socket socket, HostileClients all) throws IOException {
    write(socket, "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n" + "x:\r\n".repeat(3_900));
    untilClosed(socket);
  }

  /** A small body without its end. */
  static void halfBody(Socket socket, HostileClients all) throws IOException {
    write(socket, POST.formatted("/v1/effects") + "Content-Length: 100\r\n\r\n{\"payload\":");
    untilClosed(socket);
  }

  /** The largest body that a route takes, but for its last byte. */
  static void largeBody(Socket socket, HostileClients all) throws IOException {
    write(
        socket, POST.formatted("/v1/executions") + "Content-Length: " + (BODY_BYTES) + "\r\n\r\n");
    byte[] piece = new byte[1 << 16];
    for (int sent = 0; sent < BODY_BYTES - piece.length; sent += piece.length) {
      socket.getOutputStream().write(piece);
    }
    untilClosed(socket);
  }

  /** Chunks of one byte each. */
  static void tinyChunks(Socket socket, HostileClients all) throws IOException {
    write(socket, POST.formatted("/v1/executions") + "Transfer-Encoding: chunked\r\n\r\n");
    byte[] chunks = "1\r\n[\r\n".repeat(10_000).getBytes(StandardCharsets.US_ASCII);
    while (true) {
      all.turn();
      socket.getOutputStream().write(chunks);
    }
  }

  /** A whole body that is small on the wire and large when it was read. */
  static void jsonBomb(Socket socket, HostileClients all) throws IOException {
    int elements = 500_000;
    String body = "{\"decision\":[" + "[],".repeat(elements) + "[]]}";
    byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
    String head = POST.formatted("/v1/executions") + "Content-Length: " + bytes.length + "\r\n\r\n";
    while (true) {
      all.turn();
      write(socket, head);
      socket.getOutputStream().write(bytes);
      answer(socket);
    }
  }

  /** As many header fields as a head may have, one request after the other, no answer read. */
  static void headerFlood(Socket socket, HostileClients all) throws IOException {
    StringBuilder head = new StringBuilder("GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; head.length() < 15_000; i++) {
      head.append("x").append(i).append(": y\r\n");
    }
    byte[] bytes = head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII);
    while (true) {
      all.turn();
      socket.getOutputStream().write(bytes);
    }
  }

  /** Requests whose answers it does not read. */
  static void pipeline(Socket socket, HostileClients all) throws IOException {
    byte[] requests =
        "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            .repeat(200)
            .getBytes(StandardCharsets.US_ASCII);
    while (true) {
      all.turn();
      socket.getOutputStream().write(requests);
    }
  }

  /** Asks without a credential, again and again. */
  static void ask(Socket socket, HostileClients all) throws IOException {
    while (true) {
      all.turn();
      write(socket, "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n");
      answer(socket);
    }
  }

  /** A run's live events, with a credential, not read. */
  static Way stream(String run, String token) {
    return (socket, _) -> {
      write(
          socket,
          "GET /v1/runs/"
              + run
              + "/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
              + "Authorization: Bearer "
              + token
              + "\r\n\r\n");
      untilClosed(socket);
    };
  }

  /** A body without its end, with a credential. */
  static Way halfBodyOf(String token, String path) {
    return (socket, _) -> {
      write(
          socket,
          POST.formatted(path)
              + "Authorization: Bearer "
              + token
              + "\r\nContent-Length: 900\r\n\r\n{\"x\":");
      untilClosed(socket);
    };
  }

  private static void write(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  private static void answer(Socket socket) throws IOException {
    byte[] buffer = new byte[8192];
    if (socket.getInputStream().read(buffer) < 0) {
      throw new IOException("closed");
    }
  }

  private static void untilClosed(Socket socket) throws IOException {
    byte[] buffer = new byte[8192];
    while (socket.getInputStream().read(buffer) >= 0) {
      // whatever it says
    }
  }

  @Override
  public void close() throws IOException {
    stop.set(true);
    for (Socket socket : open) {
      socket.close();
    }
    for (Thread thread : threads) {
      thread.interrupt();
    }
  }
}
