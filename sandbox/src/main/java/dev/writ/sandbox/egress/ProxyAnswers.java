package dev.writ.sandbox.egress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What the proxy itself says to a command. */
final class ProxyAnswers {
  /** How much of what a refused command still sends is read, so that the answer arrives. */
  private static final int MOST_DISCARDED = 1 << 18;

  private ProxyAnswers() {}

  /** The last that is said on a connection. */
  static void send(Peer client, String status, String reason) {
    byte[] body = ("writ: egress: " + reason + "\n").getBytes(StandardCharsets.US_ASCII);
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            + "Content-Length: "
            + body.length
            + "\r\n\r\n";
    try {
      client.write(head.getBytes(StandardCharsets.US_ASCII));
      client.write(body);
      discardRest(client);
    } catch (IOException e) {
      // It does not want to know.
    }
  }

  /** A connection that is closed with bytes unread is reset, which takes the answer away. */
  private static void discardRest(Peer client) throws IOException {
    client.channel().shutdownOutput();
    byte[] piece = new byte[1 << 14];
    int discarded = 0;
    while (discarded < MOST_DISCARDED) {
      int n = client.in().read(piece);
      if (n < 0) {
        return;
      }
      discarded += n;
    }
  }
}
