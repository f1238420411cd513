package dev.writ.bench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** An HTTP client with next to no cost: one connection, one POST after another. */
final class HttpCaller implements AutoCloseable {
  private final Socket socket;
  private final InputStream in;
  private final String path;
  private String headers;
  private String session = "";

  HttpCaller(int port, String path) {
    this(port, path, "");
  }

  /**
   * @param headers further ones, each with its end of line
   */
  HttpCaller(int port, String path, String headers) {
    this.path = path;
    this.headers = headers;
    try {
      socket = new Socket("127.0.0.1", port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream(), 1 << 14);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From now on every request is in the session that the last answer began. */
  HttpCaller inSession() {
    headers += session + "\r\n";
    return this;
  }

  /** Posts, and makes sure that the answer is a 200. */
  int post(byte[] body) {
    return answered(body).length;
  }

  /** The same, and that the answer holds a text. */
  void post(byte[] body, String expected) {
    String answer = new String(answered(body), StandardCharsets.UTF_8);
    if (!answer.contains(expected)) {
      throw new IllegalStateException("not done: " + answer);
    }
  }

  private byte[] answered(byte[] body) {
    byte[] head =
        ("POST "
                + path
                + " HTTP/1.1\r\n"
                + "Host: 127.0.0.1\r\n"
                + "Content-Type: application/json\r\n"
                + headers
                + "Content-Length: "
                + body.length
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    byte[] request = new byte[head.length + body.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(body, 0, request, head.length, body.length);
    try {
      socket.getOutputStream().write(request);
      return answer();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private byte[] answer() throws IOException {
    String status = line();
    if (!status.startsWith("HTTP/1.1 200 ")) {
      throw new IllegalStateException("not done: " + status);
    }
    int length = 0;
    boolean chunked = false;
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
      if (name.equals("content-length")) {
        length = Integer.parseInt(line.substring(colon + 1).strip());
      } else if (name.equals("transfer-encoding")) {
        chunked = true;
      } else if (name.equals("mcp-session-id")) {
        session = line;
      }
    }
    return chunked ? chunks() : bytes(length);
  }

  private byte[] chunks() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    int size;
    do {
      size = Integer.parseInt(line(), 16);
      all.writeBytes(bytes(size));
      line();
    } while (size > 0);
    return all.toByteArray();
  }

  private byte[] bytes(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length != length) {
      throw new IOException("the answer is cut off");
    }
    return bytes;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the server closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
