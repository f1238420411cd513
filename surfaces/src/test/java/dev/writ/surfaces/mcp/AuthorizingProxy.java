package dev.writ.surfaces.mcp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Puts an Authorization header into each request on its way, and changes nothing else but that each
 * connection carries one: for clients that know no credentials.
 */
final class AuthorizingProxy implements AutoCloseable {
  private static final String HEAD_END = "\r\n\r\n";

  private final ServerSocket listening;
  private final int target;
  private final String token;

  AuthorizingProxy(int target, String token) throws IOException {
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.target = target;
    this.token = token;
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Thread.ofVirtual().start(() -> serve(client));
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
      String head = head(client.getInputStream());
      int line = head.indexOf("\r\n") + 2;
      String changed =
          head.substring(0, line)
              + "Authorization: Bearer "
              + token
              + "\r\nConnection: close\r\n"
              + head.substring(line).replaceAll("(?i)connection: [^\r]*\r\n", "");
      server.getOutputStream().write(changed.getBytes(StandardCharsets.ISO_8859_1));
      Thread up =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  client.getInputStream().transferTo(server.getOutputStream());
                } catch (IOException e) {
                  // one of the two has gone
                }
              });
      server.getInputStream().transferTo(client.getOutputStream());
      client.shutdownOutput();
      up.interrupt();
    } catch (IOException e) {
      // one of the two has gone
    }
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(StandardCharsets.ISO_8859_1).endsWith(HEAD_END)) {
      int b = in.read();
      if (b < 0) {
        throw new IOException("the head ends early");
      }
      head.write(b);
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
