package dev.writ.kube.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The way to a server, which can be cut and closed. */
public final class Relay implements AutoCloseable {
  private final int to;
  private final ServerSocket server;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile boolean down;
  private final AtomicInteger refusals = new AtomicInteger();

  public Relay(int to) throws IOException {
    this.to = to;
    this.server = new ServerSocket();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofVirtual().start(this::accept);
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Cuts all connections; new ones can be made. */
  public void cut() {
    open.forEach(Relay::close);
  }

  /** Cuts all connections, and each that is made until {@link #up}. */
  public void down() {
    down = true;
    cut();
  }

  public void up() {
    down = false;
    refusals.set(0);
  }

  /** Cuts all connections, and so many that are made after it. */
  public void downFor(int connections) {
    refusals.set(connections);
    cut();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        if (down || refusals.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
          close(client);
          continue;
        }
        Socket there = new Socket(InetAddress.getLoopbackAddress(), to);
        open.add(client);
        open.add(there);
        Thread.ofVirtual().start(() -> copy(client, there));
        Thread.ofVirtual().start(() -> copy(there, client));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void copy(Socket from, Socket into) {
    try (from;
        into) {
      InputStream in = from.getInputStream();
      OutputStream out = into.getOutputStream();
      in.transferTo(out);
    } catch (IOException e) {
      // It was cut.
    } finally {
      open.remove(from);
      open.remove(into);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    cut();
  }
}
