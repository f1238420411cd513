package dev.writ.cli.warm;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One connection to the throw-away server; a client library would load more than the server. */
final class WarmCaller implements AutoCloseable {
  /** A call that takes longer than this tells nothing, and must not hold up the end. */
  private static final int PATIENCE_MS = 10_000;

  private static final String LENGTH = "content-length:";

  private final Socket socket;
  private final InputStream in;

  WarmCaller(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MS);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /**
   * Submits a signed request and waits for its answer.
   *
   * @throws IOException where the answer is no 200
   */
  void submit(byte[] request) throws IOException {
    byte[] head =
        ("POST /v1/effects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: "
                + request.length
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    byte[] whole = new byte[head.length + request.length];
    System.arraycopy(head, 0, whole, 0, head.length);
    System.arraycopy(request, 0, whole, head.length, request.length);
    socket.getOutputStream().write(whole);
    String status = line();
    int length = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (line.toLowerCase(Locale.ROOT).startsWith(LENGTH)) {
        length = Integer.parseInt(line.substring(LENGTH.length()).strip());
      }
    }
    in.skipNBytes(length);
    if (!status.startsWith("HTTP/1.1 200 ")) {
      throw new IOException(status);
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the connection is closed");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
