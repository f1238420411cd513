package dev.writ.cli.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Where a browser comes back to after a login (RFC 8252, 7.3): a port of this machine alone. */
public final class LoopbackRedirect implements AutoCloseable {
  private static final String PATH = "/callback";
  private static final int HEAD_BYTES_MAX = 32_000;
  private static final int READ_MS = 5_000;

  private final ServerSocket socket;

  private LoopbackRedirect(ServerSocket socket) {
    this.socket = socket;
  }

  /**
   * Listens on a port that is free.
   *
   * @throws WritException {@code CLI-071} where this machine has none
   */
  public static LoopbackRedirect open() {
    try {
      return new LoopbackRedirect(
          new ServerSocket(0, 10, InetAddress.getByAddress(new byte[] {127, 0, 0, 1})));
    } catch (IOException e) {
      throw new WritException(CliError.LOGIN_UNANSWERED, "no port for it here", e);
    }
  }

  /** The address that the browser comes back to. */
  public String url() {
    return "http://127.0.0.1:" + socket.getLocalPort() + PATH;
  }

  /**
   * Waits for the browser.
   *
   * @return path and query of its request
   * @throws WritException {@code CLI-071}
   */
  public String await(Duration within) {
    long end = System.nanoTime() + within.toNanos();
    while (true) {
      long leftMs = (end - System.nanoTime()) / 1_000_000;
      if (leftMs <= 0) {
        throw new WritException(
            CliError.LOGIN_UNANSWERED, "none within " + within.toMinutes() + " minutes");
      }
      try {
        socket.setSoTimeout((int) Math.min(leftMs, Integer.MAX_VALUE));
        try (Socket browser = socket.accept()) {
          browser.setSoTimeout(READ_MS);
          String target = target(browser.getInputStream());
          boolean ours = target.startsWith(PATH + "?");
          answer(browser, ours);
          if (ours) {
            return target;
          }
        }
      } catch (SocketTimeoutException e) {
        continue; // of the wait, or of one that says nothing
      } catch (IOException e) {
        if (socket.isClosed()) {
          throw new WritException(CliError.LOGIN_UNANSWERED, "it was ended", e);
        }
      }
    }
  }

  private static String target(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0 && b != '\n' && line.size() < HEAD_BYTES_MAX; b = in.read()) {
      line.write(b);
    }
    String[] words = line.toString(StandardCharsets.ISO_8859_1).split(" ", 3);
    return words.length == 3 && words[0].equals("GET") ? words[1] : "";
  }

  private static void answer(Socket browser, boolean ours) throws IOException {
    String text =
        ours ? "Writ has the answer. You can close this page.\n" : "There is nothing here.\n";
    String head =
        "HTTP/1.1 "
            + (ours ? "200 OK" : "404 Not Found")
            + "\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\nReferrer-Policy:"
            + " no-referrer\r\nConnection: close\r\nContent-Length: "
            + text.length()
            + "\r\n\r\n";
    browser.getOutputStream().write((head + text).getBytes(StandardCharsets.US_ASCII));
    browser.getOutputStream().flush();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }
}
