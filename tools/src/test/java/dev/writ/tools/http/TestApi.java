package dev.writ.tools.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;

/** A server that says exactly the bytes that a test has it say, on one connection each. */
public final class TestApi implements AutoCloseable {
  private final ServerSocket server;
  private final Handler handler;
  private final List<Asked> asked = new CopyOnWriteArrayList<>();
  private final Thread accepting;

  /** A request as it came. */
  public record Asked(String head, byte[] content) {
    public String line() {
      return head.lines().findFirst().orElse("");
    }

    public String text() {
      return new String(content, StandardCharsets.UTF_8);
    }

    /** The value of a header field; empty where there is none. */
    public String field(String name) {
      return head.lines()
          .filter(line -> line.toLowerCase().startsWith(name.toLowerCase() + ": "))
          .map(line -> line.substring(name.length() + 2))
          .findFirst()
          .orElse("");
    }
  }

  /** Answers a request; the connection is closed afterwards. */
  @FunctionalInterface
  public interface Handler {
    void answer(Asked asked, OutputStream out, Socket socket) throws IOException;
  }

  private TestApi(ServerSocket server, Handler handler) {
    this.server = server;
    this.handler = handler;
    this.accepting = Thread.ofVirtual().start(this::accept);
  }

  public static TestApi plain(Handler handler) {
    try {
      return new TestApi(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), handler);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static TestApi secure(SSLContext identity, Handler handler) {
    try {
      return new TestApi(
          identity
              .getServerSocketFactory()
              .createServerSocket(0, 50, InetAddress.getLoopbackAddress()),
          handler);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers with a whole message. */
  public static Handler says(String status, String type, String content) {
    return (_, out, _) -> write(out, message(status, type, content));
  }

  public static String message(String status, String type, String content) {
    int length = content.getBytes(StandardCharsets.UTF_8).length;
    return "HTTP/1.1 "
        + status
        + "\r\nContent-Type: "
        + type
        + "\r\nContent-Length: "
        + length
        + "\r\n\r\n"
        + content;
  }

  public static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  public int port() {
    return server.getLocalPort();
  }

  public List<Asked> asked() {
    return List.copyOf(asked);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      Asked request = read(socket.getInputStream());
      asked.add(request);
      handler.answer(request, socket.getOutputStream(), socket);
    } catch (IOException e) {
      // The other side is gone.
    }
  }

  private static Asked read(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int b = in.read();
      if (b < 0) {
        throw new IOException("no request");
      }
      head.write(b);
    }
    String text = head.toString(StandardCharsets.ISO_8859_1);
    String length = new Asked(text, new byte[0]).field("Content-Length");
    return new Asked(
        text, length.isEmpty() ? new byte[0] : in.readNBytes(Integer.parseInt(length)));
  }

  /**
   * Closes the server, and keeps its port: whoever connects is refused, since nobody listens there
   * and nobody else can.
   */
  public Socket leave() {
    close();
    try {
      Socket holding = new Socket();
      holding.setReuseAddress(true);
      holding.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()));
      return holding;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Nobody is accepted any more when it returns. */
  @Override
  public void close() {
    try {
      server.close();
      accepting.join(); // which lets go of the port
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
