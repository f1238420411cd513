package dev.writ.cli.cells;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** A line to a database that can be cut and mended. */
final class DatabaseLine implements AutoCloseable {
  private final ServerSocket listening;
  private final int target;
  private final List<Socket> sockets = new ArrayList<>();
  private boolean cut;

  DatabaseLine(int target) throws IOException {
    this.target = target;
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  synchronized void cut() {
    cut = true;
    sockets.forEach(DatabaseLine::close);
    sockets.clear();
  }

  synchronized void mend() {
    cut = false;
  }

  private synchronized boolean keep(Socket client, Socket server) {
    sockets.add(client);
    sockets.add(server);
    return !cut;
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        if (!keep(client, server)) {
          close(client);
          close(server);
          continue;
        }
        Thread.ofVirtual().start(() -> pipe(client, server));
        Thread.ofVirtual().start(() -> pipe(server, client));
      } catch (IOException e) {
        // It is closed, or the server is down.
      }
    }
  }

  private static void pipe(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] buffer = new byte[16 << 10];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // Cut, or one side has closed.
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is given up anyway.
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    cut();
  }
}
