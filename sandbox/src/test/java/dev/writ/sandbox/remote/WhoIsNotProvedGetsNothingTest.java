package dev.writ.sandbox.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.remote.testing.Authority;
import dev.writ.sandbox.remote.testing.OtherHost;
import dev.writ.sandbox.remote.testing.TlsRelay;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Neither side says anything to one who is not whom it expects. */
@Timeout(120)
class WhoIsNotProvedGetsNothingTest {
  private static OtherHost host;
  @TempDir private static Path dir;
  private static Authority foreign;

  @BeforeAll
  static void open() throws Exception {
    host = new OtherHost();
    foreign = new Authority(dir.resolve("foreign"));
  }

  @AfterAll
  static void close() throws Exception {
    host.close();
  }

  private static void refused(RemoteDockerSettings settings, String code) {
    assertThatThrownBy(() -> RemoteDockerEngine.opener(() -> settings).look())
        .hasMessageStartingWith(code);
  }

  private static RemoteDockerSettings at(int port) {
    return host.settings("localhost", port, host.authority.certificate(), host.client);
  }

  /** With the right ones it is served: so the refusals below are for their reasons. */
  @Test
  void whoIsProvedIsServed() {
    assertThat(RemoteDockerEngine.opener(host::settings).look().version()).contains("(podman)");
  }

  @Test
  void aServiceOfAnotherAuthorityNameOrTimeIsToldNothing() throws Exception {
    for (Authority.Issued wrong :
        new Authority.Issued[] {
          foreign.issue("localhost"),
          host.authority.issue("elsewhere.example"),
          host.authority.expired("localhost")
        }) {
      try (TlsRelay relay = new TlsRelay(host.podman.socket(), wrong.trusting(host.authority))) {
        refused(at(relay.port()), "SBX-051");
        assertThat(relay.received()).as("bytes of requests").isZero();
      }
    }
    refused(
        host.settings("localhost", host.relay.port(), foreign.certificate(), host.client),
        "SBX-051");
  }

  @Test
  void aServiceWithoutTlsIsToldNothing() throws Exception {
    try (ServerSocket plain = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      ByteArrayOutputStream heard = new ByteArrayOutputStream();
      Thread server =
          Thread.ofVirtual()
              .start(() -> {
                try (Socket client = plain.accept()) {
                  byte[] first = new byte[2_000];
                  int n = client.getInputStream().read(first);
                  heard.write(first, 0, Math.max(0, n));
                  client
                      .getOutputStream()
                      .write(
                          "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                  client.getInputStream().readAllBytes();
                } catch (IOException e) {
                  return;
                }
              });
      refused(at(plain.getLocalPort()), "SBX-051");
      server.join();
      assertThat(heard.toString(StandardCharsets.ISO_8859_1))
          .startsWith("\u0016\u0003") // a record of a handshake
          .doesNotContain("GET", "/version");
    }
  }

  @Test
  void aClientOfAnotherAuthorityOrTimeIsToldNothing() throws Exception {
    long before = host.relay.received();
    refused(
        host.settings(
            "localhost",
            host.relay.port(),
            host.authority.certificate(),
            foreign.issue("writ.example")),
        "SBX-051");
    refused(
        host.settings(
            "localhost",
            host.relay.port(),
            host.authority.certificate(),
            host.authority.expired("writ.example")),
        "SBX-051");
    assertThat(host.relay.received()).isEqualTo(before);
  }

  @Test
  void settingsThatCannotBeAreRefused() throws Exception {
    Path no = dir.resolve("no.pem");
    refused(host.settings("localhost", 1, no, host.client), "SBX-050");
    refused(
        host.settings(
            "localhost",
            1,
            host.authority.certificate(),
            new Authority.Issued(host.client.certificate(), host.client.certificate())),
        "SBX-050");
    String right =
        """
        {"host": "h.example", "port": 2376, "ca": "a", "certificate": "b", "key": "c",
         "helper": "busybox@sha256:%s"}
        """
            .formatted("b".repeat(64));
    RemoteDockerSettings read = RemoteDockerSettings.read(json(right));
    assertThat(read.startMs()).isEqualTo(120_000);
    assertThat(read.patienceMs()).isEqualTo(60_000);
    for (String wrong :
        new String[] {
          right.replace("h.example", "http://h.example"),
          right.replace("2376", "0"),
          right.replace("2376", "65536"),
          right.replace("}", ", \"start_s\": 0}"),
          right.replace("}", ", \"patience_s\": 4000}")
        }) {
      assertThatThrownBy(() -> RemoteDockerSettings.read(json(wrong)))
          .hasMessageStartingWith("SBX-050");
    }
    assertThatThrownBy(() -> RemoteDockerSettings.read(json(right.replace("\"key\"", "\"kye\""))))
        .hasMessageContaining("key");
    RemoteDockerProvider provider = new RemoteDockerProvider();
    assertThatThrownBy(() -> provider.configure(Map.of()).look())
        .hasMessageStartingWith("SBX-050")
        .hasMessageContaining("WRIT_DOCKER_REMOTE");
    Path file = Files.writeString(dir.resolve("settings.json"), right);
    assertThatThrownBy(
            () -> provider.configure(Map.of("WRIT_DOCKER_REMOTE", file.toString())).look())
        .as("its files are not there")
        .hasMessageStartingWith("SBX-050");
  }

  private static JsonValue json(String text) {
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }
}
