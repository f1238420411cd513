package dev.writ.sinks.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Set;

/** A line to a server that a test cuts: at once, or in the middle of what the client sends. */
public final class Relay implements AutoCloseable {
  private final int target;
  private final ServerSocket listening;
  private final Set<Socket> sockets = new HashSet<>();
  private boolean open = true;
  private long bytesLeft = Long.MAX_VALUE;

  public Relay(int target) {
    this.target = target;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  public int port() {
    return listening.getLocalPort();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        if (!isOpen()) {
          client.close();
          continue;
        }
        connect(client);
      } catch (IOException e) {
        // The relay is closed.
      }
    }
  }

  private void connect(Socket client) throws IOException {
    try {
      Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
      if (isKept(client, server)) {
        Thread.ofVirtual().start(() -> copy(client, server, true));
        Thread.ofVirtual().start(() -> copy(server, client, false));
      }
    } catch (IOException e) { // the server is down
      client.close();
    }
  }

  private synchronized boolean isOpen() {
    return open;
  }

  private synchronized boolean isKept(Socket client, Socket server) throws IOException {
    if (!open) {
      client.close();
      server.close();
    }
    sockets.add(client);
    sockets.add(server);
    return open;
  }

  private void copy(Socket from, Socket to, boolean counted) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] block = new byte[1024];
      for (int read = in.read(block); read >= 0; read = in.read(block)) {
        int allowed = counted ? allowed(read) : read;
        out.write(block, 0, allowed);
        if (allowed < read) {
          cut();
        }
      }
    } catch (IOException e) {
      // One of the two is gone; so is the other.
    }
  }

  private synchronized int allowed(int bytes) {
    int allowed = (int) Math.min(bytes, bytesLeft);
    bytesLeft -= allowed;
    return allowed;
  }

  /** Ends all connections, and every new one at once. */
  public synchronized void cut() {
    open = false;
    for (Socket socket : sockets) {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    sockets.clear();
  }

  /** Cuts after so many bytes more from the client. */
  public synchronized void cutAfter(long bytes) {
    bytesLeft = bytes;
  }

  /** Lets connections through again. */
  public synchronized void mend() {
    open = true;
    bytesLeft = Long.MAX_VALUE;
  }

  @Override
  public void close() {
    cut();
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
