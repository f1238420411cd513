package dev.writ.sandbox.remote.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/**
 * What stands before a service on its host: it speaks TLS, requires a certificate of clients, and
 * can be cut.
 */
public final class TlsRelay implements AutoCloseable {
  private final Path behind;
  private final SSLServerSocket server;
  private final Set<AutoCloseable> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger refusals = new AtomicInteger();
  private final AtomicLong received = new AtomicLong();
  private volatile boolean down;

  /**
   * @param behind the service's socket
   */
  public TlsRelay(Path behind, SSLContext context) throws IOException {
    this.behind = behind;
    server = (SSLServerSocket) context.getServerSocketFactory().createServerSocket();
    server.setNeedClientAuth(true);
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
    Thread.ofVirtual().start(this::accept);
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Cuts all connections; new ones can be made. */
  public void cut() {
    open.forEach(TlsRelay::close);
  }

  /** Cuts all connections, and so many that are made after it. */
  public void downFor(int connections) {
    refusals.set(connections);
    cut();
  }

  /** Cuts all connections, and each that is made until {@link #up}. */
  public void down() {
    down = true;
    cut();
  }

  public void up() {
    down = false;
  }

  /** How many bytes of requests came out of TLS. */
  public long received() {
    return received.get();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        SSLSocket client = (SSLSocket) server.accept();
        if (down || refusals.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
          client.close();
          continue;
        }
        Thread.ofVirtual().start(() -> serve(client));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(SSLSocket client) {
    try {
      client.startHandshake();
      SocketChannel there = SocketChannel.open(StandardProtocolFamily.UNIX);
      open.add(there);
      open.add(client);
      there.connect(UnixDomainSocketAddress.of(behind));
      Thread.ofVirtual().start(() -> answer(there, client));
      InputStream in = client.getInputStream();
      OutputStream out = Channels.newOutputStream(there);
      byte[] some = new byte[1 << 16];
      for (int n = in.read(some); n >= 0; n = in.read(some)) {
        received.addAndGet(n);
        out.write(some, 0, n);
      }
      there.shutdownOutput();
    } catch (IOException e) {
      close(client);
    }
  }

  private void answer(SocketChannel there, Socket client) {
    try (there;
        client) {
      Channels.newInputStream(there).transferTo(client.getOutputStream());
    } catch (IOException e) {
      // It was cut.
    } finally {
      open.remove(there);
      open.remove(client);
    }
  }

  private static void close(AutoCloseable one) {
    try {
      one.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    cut();
  }
}
