package dev.writ.sandbox.egress;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who has no credential, another's, or comes from elsewhere learns nothing and reaches nothing. */
@Timeout(60)
class ACommandPassesTheGateByItsCredentialTest {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private HttpServer origin;
  private EgressGate gate;
  private int port;

  @BeforeEach
  void open() throws IOException {
    origin = HttpServer.create(new InetSocketAddress(HERE, 0), 0);
    origin.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    origin.start();
    try (ServerSocket free = new ServerSocket(0, 1, HERE)) {
      port = free.getLocalPort();
    }
    gate = EgressGate.open(new InetSocketAddress(HERE, port));
  }

  @AfterEach
  void close() {
    gate.close();
    origin.stop(0);
  }

  private EgressGate.Pass admit() {
    EgressRule rule = new EgressRule("127.0.0.1", origin.getAddress().getPort(), true);
    return gate.admit(List.of(rule), Resolver.HOST, OriginTls::ofTheJdk);
  }

  private static String field(String userInfo) {
    return "Proxy-Authorization: Basic "
        + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.US_ASCII))
        + "\r\n";
  }

  /** The first line of the answer. */
  private String asked(String fields) throws IOException {
    try (Socket socket = new Socket(HERE, port)) {
      String head =
          "GET http://127.0.0.1:"
              + origin.getAddress().getPort()
              + "/ HTTP/1.1\r\nHost: x\r\n"
              + fields
              + "\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      socket.shutdownOutput();
      byte[] answer = socket.getInputStream().readAllBytes();
      return new String(answer, StandardCharsets.US_ASCII).lines().findFirst().orElse("");
    }
  }

  @Test
  void aCredentialIsGoodForOneCommandFromItsAddressUntilItsEnd() throws Exception {
    String refused = "HTTP/1.1 407 Proxy Authentication Required";
    EgressGate.Pass pass = admit();
    try (EgressGate.Pass other = admit()) {
      String mine = field(pass.userInfo());
      assertThat(asked(mine)).as("its pod has no address yet").isEqualTo(refused);
      pass.from(InetAddress.getByName("127.0.0.9"));
      assertThat(asked(mine)).as("from elsewhere").isEqualTo(refused);
      pass.from(HERE);
      assertThat(asked(mine)).startsWith("HTTP/1.1 204");
      for (String bad :
          List.of(
              "",
              mine + mine,
              field(pass.userInfo() + "0"),
              field(other.userInfo()),
              "Proxy-Authorization: Bearer x\r\n",
              "Proxy-Authorization: Basic\r\n",
              "Proxy-Authorization: Basic =%\r\n")) {
        assertThat(asked(bad)).as(bad).isEqualTo(refused);
      }
      pass.close();
      assertThat(asked(mine)).as("it has ended").isEqualTo(refused);
      assertThat(pass.events()).hasSize(2); // a lookup and a connection
      assertThat(other.events()).isEmpty();
    }
  }

  /** Who says nothing takes no room from others for long, and none beyond its share. */
  @Test
  void whoSaysNothingHasAShareOfConnections() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (EgressGate.Pass pass = admit()) {
      pass.from(InetAddress.getByName("127.0.0.2"));
      for (int i = 0; i < 65; i++) {
        silent.add(new Socket(HERE, port));
      }
      assertThat(silent.getLast().getInputStream().read()).as("one too many").isEqualTo(-1);
      try (Socket other = new Socket()) {
        other.bind(new InetSocketAddress("127.0.0.2", 0));
        other.connect(new InetSocketAddress(HERE, port));
        String head = "CONNECT 127.0.0.1:1 HTTP/1.1\r\n" + field(pass.userInfo()) + "\r\n";
        other.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
        other.shutdownOutput();
        assertThat(new String(other.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
            .startsWith("HTTP/1.1 403");
      }
    } finally {
      for (Socket one : silent) {
        one.close();
      }
    }
  }
}
