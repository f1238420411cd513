package dev.writ.bench;

import java.io.BufferedInputStream;
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

  HttpCaller(int port, String path) {
    this.path = path;
    try {
      socket = new Socket("127.0.0.1", port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream(), 1 << 14);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Posts, and makes sure that the answer is a 200. */
  int post(byte[] body) {
    byte[] head =
        ("POST "
                + path
                + " HTTP/1.1\r\n"
                + "Host: 127.0.0.1\r\n"
                + "Content-Type: application/json\r\n"
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

  private int answer() throws IOException {
    String status = line();
    if (!status.startsWith("HTTP/1.1 200 ")) {
      throw new IllegalStateException("not done: " + status);
    }
    int length = -1;
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(line.substring("content-length:".length()).strip());
      }
    }
    if (in.readNBytes(length).length != length) {
      throw new IOException("the answer is cut off");
    }
    return length;
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
