package dev.writ.sandbox.egress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The proxy's own answers to a command. */
final class ProxyAnswers {
  /** How many bytes that a refused command still sends are read, so that the answer arrives. */
  private static final int MOST_DISCARDED = 1 << 18;

  private ProxyAnswers() {}

  /** Sends an answer and ends the connection. */
  static void send(Peer client, String status, String reason) {
    send(client, status, reason, "");
  }

  /** Asks for the credential of a command. */
  static void askForCredential(Peer client) {
    send(
        client,
        "407 Proxy Authentication Required",
        "the credential of no command that runs",
        "Proxy-Authenticate: Basic realm=\"writ\"\r\n");
  }

  private static void send(Peer client, String status, String reason, String field) {
    byte[] body = ("writ: egress: " + reason + "\n").getBytes(StandardCharsets.US_ASCII);
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            + field
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

  /**
   * Reads on for a while: closing a connection with unread bytes resets it, and the answer would be
   * lost.
   */
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
