package dev.writ.sandbox.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/**
 * A service that passes requests on to another one, and changes what is asked of it: as a service
 * would do that does not know an option, or that lies.
 */
public final class TamperingService implements AutoCloseable {
  private final ServerSocketChannel server;
  private final Path socket;
  private final Path behind;
  private final UnaryOperator<String> change;

  /**
   * @param change what becomes of the body of each request that makes a container
   */
  public TamperingService(Path socket, Path behind, UnaryOperator<String> change)
      throws IOException {
    this.socket = socket;
    this.behind = behind;
    this.change = change;
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket));
    Thread.ofVirtual().start(this::serve);
  }

  public Path socket() {
    return socket;
  }

  private void serve() {
    try {
      while (true) {
        SocketChannel client = server.accept();
        Thread.ofVirtual().start(() -> one(client));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void one(SocketChannel client) {
    try (client;
        SocketChannel other = SocketChannel.open(UnixDomainSocketAddress.of(behind))) {
      InputStream in = Channels.newInputStream(client);
      OutputStream out = Channels.newOutputStream(other);
      String head = head(in);
      byte[] body = in.readNBytes(length(head));
      if (head.contains("/containers/create")) {
        body =
            change.apply(new String(body, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
        head = head.replaceFirst("Content-Length: [0-9]+", "Content-Length: " + body.length);
      }
      out.write(head.getBytes(StandardCharsets.ISO_8859_1));
      out.write(body);
      Thread.ofVirtual().start(() -> rest(in, out, other));
      Channels.newInputStream(other).transferTo(Channels.newOutputStream(client));
    } catch (IOException e) {
      // The client sees that the connection ended.
    }
  }

  private static void rest(InputStream in, OutputStream out, SocketChannel other) {
    try {
      in.transferTo(out);
      other.shutdownOutput();
    } catch (IOException e) {
      // the other side has ended
    }
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    String text = "";
    while (!text.endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("no request");
      }
      bytes.write(next);
      text = bytes.toString(StandardCharsets.ISO_8859_1);
    }
    return text;
  }

  private static int length(String head) {
    return Integer.parseInt(head.replaceAll("(?s).*Content-Length: ([0-9]+).*", "$1"));
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
