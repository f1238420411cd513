package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.TestCertificates;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.server.GatewayServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever renews a certificate tells no server of it (spec/gateway.md, 35a). */
class RenewedFilesOfTlsAreTakenUpTest {
  @TempDir Path dir;
  private final List<String> told = new ArrayList<>();
  private TestCertificates pki;
  private GatewayServer server;
  private TlsRenewal renewal;

  @BeforeEach
  void start() throws Exception {
    pki = new TestCertificates(dir).authority("ca").issue("server", "/CN=first", "ca");
    serve(Optional.empty());
  }

  private void serve(Optional<Listen.Clients> clients) {
    Listen listen =
        new Listen(
            "127.0.0.1",
            0,
            new Listen.Protection.Tls(pki.pem("server"), pki.key("server"), clients));
    server =
        GatewayServer.start(
            new GatewayServer.Config(
                listen,
                HttpLimits.DEFAULT,
                List.of(),
                List.of(),
                GatewayServer.places(HttpLimits.DEFAULT),
                _ -> {},
                (_, _) -> {},
                InstantSource.system(),
                new SecureRandom()));
    renewal =
        server
            .renewal(
                new TlsRenewal.Told() {
                  @Override
                  public void renewed(String detail) {
                    told.add(detail);
                  }

                  @Override
                  public void refused(WritException why) {
                    told.add(why.code().code() + " " + why.found());
                  }
                })
            .orElseThrow();
    renewal.look();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String shown() throws Exception {
    return shown(pki.client("ca", Optional.empty()));
  }

  private String shown(SSLContext client) throws Exception {
    try (SSLSocket socket =
        (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", server.port())) {
      socket.startHandshake();
      return ((X509Certificate) socket.getSession().getPeerCertificates()[0])
          .getSubjectX500Principal()
          .getName();
    }
  }

  private void looks(int times) {
    for (int i = 0; i < times; i++) {
      renewal.look();
    }
  }

  @Test
  void whatStaysIsLeftAlone() throws Exception {
    looks(3);
    assertThat(told).isEmpty();
    assertThat(shown()).isEqualTo("CN=first");
  }

  @Test
  void theNewOneIsShownAfterTheSecondLook() throws Exception {
    pki.issue("server", "/CN=second", "ca", "IP:127.0.0.1", 1);
    looks(1);
    assertThat(shown()).as("it may be half of it").isEqualTo("CN=first");
    looks(3);
    assertThat(shown()).isEqualTo("CN=second");
    Instant ends = server.certificateEnd().orElseThrow();
    assertThat(told).containsExactly(pki.pem("server") + ", until " + ends);
  }

  /** As certbot does: first one file, then the other. */
  @Test
  void ofTwoThatDoNotFitTheFormerStayUntilTheyDo() throws Exception {
    pki.issue("next", "/CN=second", "ca");
    Files.copy(pki.pem("next"), pki.pem("server"), StandardCopyOption.REPLACE_EXISTING);
    looks(1);
    assertThat(told).as("the key may be about to follow").isEmpty();
    looks(5);
    String why = "GWY-007 " + pki.key("server") + " is not the key of " + pki.pem("server");
    assertThat(told).as("once").containsExactly(why);
    assertThat(shown()).isEqualTo("CN=first");
    Files.copy(pki.key("next"), pki.key("server"), StandardCopyOption.REPLACE_EXISTING);
    looks(2);
    assertThat(shown()).isEqualTo("CN=second");
    assertThat(told).hasSize(2);
  }

  @Test
  void oneThatIsNotThereIsToldOnceAndAgainWhenItHasBeenBack() throws Exception {
    Path away = dir.resolve("away");
    String why = "GWY-007 " + pki.pem("server") + ": NoSuchFileException";
    Files.move(pki.pem("server"), away);
    looks(4);
    assertThat(told).containsExactly(why);
    Files.move(away, pki.pem("server"));
    looks(2);
    assertThat(shown()).isEqualTo("CN=first");
    Files.move(pki.pem("server"), away);
    looks(2);
    assertThat(told).containsExactly(why, why);
  }

  /** As a secret of Kubernetes is mounted: all files lie behind one link. */
  @Test
  void aFolderThatIsExchangedIsTakenUp() throws Exception {
    server.close();
    Path real = dir;
    Path second = Files.createDirectory(dir.resolve("second"));
    Path link = Files.createSymbolicLink(dir.resolve("data"), real);
    pki = new TestCertificates(link);
    serve(Optional.empty());
    pki = new TestCertificates(second).authority("ca").issue("server", "/CN=second", "ca");
    Path swap = Files.createSymbolicLink(dir.resolve("swap"), second);
    Files.move(swap, link, StandardCopyOption.ATOMIC_MOVE);
    looks(2);
    assertThat(shown()).isEqualTo("CN=second");
  }

  @Test
  void anotherAuthorityOfClientsCountsFromThenOn() throws Exception {
    server.close();
    pki.authority("old").authority("new").issue("client", "/CN=client", "new");
    Files.copy(pki.pem("old"), pki.pem("clients"));
    serve(Optional.of(new Listen.Clients(pki.pem("clients"), true)));
    SSLContext client = pki.client("ca", Optional.of("client"));
    assertThat(isLetIn(client)).isFalse();
    Files.copy(pki.pem("new"), pki.pem("clients"), StandardCopyOption.REPLACE_EXISTING);
    looks(2);
    assertThat(isLetIn(client)).isTrue();
  }

  /** With TLS 1.3 a client hears of its refusal when it reads. */
  private boolean isLetIn(SSLContext client) throws Exception {
    try (SSLSocket socket =
        (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", server.port())) {
      socket.startHandshake();
      socket.getOutputStream().write("GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".getBytes("UTF-8"));
      return socket.getInputStream().read() == 'H';
    } catch (javax.net.ssl.SSLException | java.net.SocketException e) {
      return false;
    }
  }
}
