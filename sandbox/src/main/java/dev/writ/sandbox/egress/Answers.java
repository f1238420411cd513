package dev.writ.sandbox.egress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What the proxy itself says to a command. */
final class Answers {
  private Answers() {}

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
    } catch (IOException e) {
      // It does not want to know.
    }
  }
}
