package dev.writ.gateway.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.ClientSettings;
import dev.writ.client.WritClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * What answers at an address may be a proxy, a door of a network, or a server that stands still.
 */
class TheClientTakesNoStrangersAnswerTest {

  /** Gives each call the same answer, and leaves the connection open. */
  private record Stranger(ServerSocket socket) implements AutoCloseable {
    static Stranger saying(String answer) throws IOException {
      Stranger stranger = new Stranger(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
      Thread.ofVirtual().start(() -> stranger.serve(answer));
      return stranger;
    }

    private void serve(String answer) {
      while (!socket.isClosed()) {
        try {
          Socket connection = socket.accept();
          Thread.ofVirtual().start(() -> answer(connection, answer));
        } catch (IOException e) {
          return;
        }
      }
    }

    private static void answer(Socket connection, String answer) {
      try (connection;
          InputStream in = connection.getInputStream()) {
        if (in.read() >= 0) {
          connection.getOutputStream().write(answer.getBytes(US_ASCII));
        }
        while (in.read() >= 0) {
          // until the client has gone
        }
      } catch (IOException e) {
        // it has gone
      }
    }

    WritClient client() {
      return client(Duration.ofMinutes(1));
    }

    WritClient client(Duration answerWithin) {
      return new WritClient(
          URI.create("http://127.0.0.1:" + socket.getLocalPort()),
          new WritClient.Token("acme", "agent", "writ_token"),
          new WritClient.Pinned(Trust.parse("{\"keys\":[]}".getBytes(US_ASCII)), "origin"),
          ClientSettings.usual().retryFor(Duration.ZERO).answerWithin(answerWithin));
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static String answer(String status, String type, String body) {
    return "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: %s\r\nLocation: /login\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(status, type, body.length(), body);
  }

  private static void refuses(String code, Executable call) {
    assertEquals(code, assertThrows(WritException.class, call).code().code());
  }

  @Test
  void aRedirectAndSomebodysPageSayOfNothingThatItWasDone() throws Exception {
    for (String said :
        List.of(
            answer("302 Found", "text/html", "login"),
            answer("404 Not Found", "text/html; charset=utf-8", "<html>"),
            answer("404 Not Found", "text/plain", "none"),
            answer("200 OK", "text/html", "<html>"),
            answer("204 No Content", "text/plain", ""))) {
      try (Stranger stranger = Stranger.saying(said);
          WritClient client = stranger.client()) {
        refuses("GWY-062", () -> client.put(new byte[1], "a", "text/plain"));
        refuses("GWY-062", () -> client.cancel(Digest.sha256(new byte[0])));
        refuses("GWY-062", () -> client.bundle("run", 100));
        refuses("GWY-062", () -> client.get("/v1/runs"));
        refuses("GWY-062", () -> client.events("run", OptionalLong.empty(), _ -> true));
      }
    }
  }

  @Test
  void whereNobodyListensTheAddressIsTold() throws Exception {
    Stranger gone = Stranger.saying("");
    gone.close();
    try (WritClient client = gone.client()) {
      WritException told = assertThrows(WritException.class, () -> client.get("/v1/runs"));
      assertEquals("GWY-061", told.code().code());
      assertEquals(
          "no connection to http://127.0.0.1:"
              + gone.socket().getLocalPort()
              + ": ConnectException",
          told.found());
    }
  }

  @Test
  void contentIsStoredWhereTheServerNamesIt() throws Exception {
    try (Stranger stranger = Stranger.saying(answer("200 OK", "application/json", "{}"));
        WritClient client = stranger.client()) {
      refuses("GWY-062", () -> client.put(new byte[1], "a", "text/plain"));
    }
  }

  @Test
  void anAnswerThatStandsStillIsNone() throws Exception {
    String begun =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{";
    try (Stranger stranger = Stranger.saying(begun);
        WritClient client = stranger.client(Duration.ofMillis(200))) {
      refuses("GWY-061", () -> client.get("/v1/runs"));
      refuses("GWY-061", () -> client.cancel(Digest.sha256(new byte[0])));
    }
  }

  @Test
  void aProxyThatReachesNobodyIsAskedAgainForEvents() throws Exception {
    try (Stranger stranger = Stranger.saying(answer("502 Bad Gateway", "text/html", "<html>"));
        WritClient client = stranger.client()) {
      refuses("GWY-061", () -> client.events("run", OptionalLong.empty(), _ -> true));
    }
  }
}
