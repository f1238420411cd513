package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.canonicalize.WritException;
import dev.writ.fixture.Refused;
import dev.writ.gateway.TestCertificates;
import dev.writ.gateway.cell.CellBoard;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.HopKey;
import dev.writ.gateway.ops.Metrics;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a gateway shows to the others, as a server and as a client, is read again with the rest. */
class TheCertificateBetweenGatewaysIsRenewedTest {
  @TempDir Path dir;
  private final BlockingQueue<String> callers = new LinkedBlockingQueue<>();
  private TestCertificates certificates;
  private HttpsServer owner;
  private Front front;

  @BeforeEach
  void start() throws Exception {
    certificates =
        new TestCertificates(dir)
            .authority("ca")
            .issue("gw", "/CN=first", "ca")
            .issue("owner", "/CN=owner", "ca");
    SSLContext ofOwner = certificates.client("ca", Optional.of("owner"));
    owner = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    owner.setHttpsConfigurator(
        new HttpsConfigurator(ofOwner) {
          @Override
          public void configure(HttpsParameters parameters) {
            SSLParameters both = ofOwner.getDefaultSSLParameters();
            both.setNeedClientAuth(true);
            parameters.setSSLParameters(both);
          }
        });
    owner.createContext(
        "/",
        exchange -> {
          callers.add(((HttpsExchange) exchange).getSSLSession().getPeerPrincipal().getName());
          exchange.getResponseHeaders().set("Connection", "close");
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    owner.start();
    front =
        Front.open(
            new Front.Config(
                Listen.loopback(0),
                HttpLimits.DEFAULT,
                List.of(),
                List.of(),
                List.of(),
                new HopSettings(
                    "127.0.0.1",
                    0,
                    Optional.empty(),
                    Optional.of(
                        new HopSettings.Tls(
                            certificates.pem("gw"),
                            certificates.key("gw"),
                            certificates.pem("ca"))),
                    Duration.ofSeconds(90)),
                new HopKey(new byte[32]),
                new CellChoice(
                    1,
                    "local",
                    Optional.empty(),
                    new Tokens(List.of()),
                    new Certificates(List.of())),
                0,
                _ -> {},
                (_, _) -> {},
                InstantSource.system(),
                new SecureRandom()));
    front.cell(0).owner(Optional.of("127.0.0.1:" + owner.getAddress().getPort()));
  }

  @AfterEach
  void stop() {
    front.close();
    owner.stop(0);
  }

  private String shownToCallers() throws Exception {
    String address = front.address();
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    SSLContext other = certificates.client("ca", Optional.of("owner"));
    try (SSLSocket socket = (SSLSocket) other.getSocketFactory().createSocket("127.0.0.1", port)) {
      socket.startHandshake();
      return socket.getSession().getPeerPrincipal().getName();
    }
  }

  private String shownToOwner() throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<Void> answer =
          http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + front.port() + "/v1/runs"))
                  .build(),
              HttpResponse.BodyHandlers.discarding());
      assertThat(answer.statusCode()).isEqualTo(204);
      return callers.take();
    }
  }

  @Test
  void newConnectionsShowTheNewOne() throws Exception {
    assertThat(shownToCallers()).isEqualTo("CN=first");
    assertThat(shownToOwner()).isEqualTo("CN=first");
    certificates.issue("gw", "/CN=second", "ca");
    front.change(Listen.loopback(0), List.of());
    assertThat(shownToCallers()).isEqualTo("CN=second");
    assertThat(shownToOwner()).isEqualTo("CN=second");
  }

  @Test
  void theNewOneIsTakenUpByItself() throws Exception {
    List<String> told = new ArrayList<>();
    List<TlsRenewal> renewals =
        front.renewals(
            new TlsRenewal.Told() {
              @Override
              public void renewed(String detail) {
                told.add(detail);
              }

              @Override
              public void refused(WritException why) {
                told.add(why.code().code());
              }
            });
    assertThat(renewals).as("callers are shown none").hasSize(1);
    renewals.getFirst().look();
    certificates.issue("gw", "/CN=second", "ca");
    renewals.getFirst().look();
    assertThat(shownToOwner()).isEqualTo("CN=first");
    renewals.getFirst().look();
    assertThat(shownToCallers()).isEqualTo("CN=second");
    assertThat(shownToOwner()).isEqualTo("CN=second");
    assertThat(told)
        .containsExactly(
            certificates.pem("gw") + ", until " + front.hopCertificateEnd().orElseThrow());
  }

  @Test
  void whenItEndsIsMeasuredOfTheOneInForce() throws Exception {
    Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
    new CellBoard(1, Optional.empty()).measure(metrics, front);
    String of = "writ_tls_certificate_end_seconds{of=\"gateways\"}";
    assertThat(metrics.text())
        .contains(of + certificates.end("gw"))
        .as("callers are shown none")
        .doesNotContain("callers");
    certificates.issue("gw", "/CN=second", "ca", "IP:127.0.0.1", 1);
    assertThat(metrics.text()).doesNotContain(of + certificates.end("gw"));
    front.change(Listen.loopback(0), List.of());
    assertThat(metrics.text()).contains(of + certificates.end("gw"));
  }

  @Test
  void oneThatCannotBeUsedIsRefusedAndTheFormerStays() throws Exception {
    Files.writeString(certificates.pem("gw"), "nothing");
    assertThat(Refused.code(() -> front.change(Listen.loopback(0), List.of())))
        .isEqualTo("GWY-007");
    assertThat(shownToCallers()).isEqualTo("CN=first");
    assertThat(shownToOwner()).isEqualTo("CN=first");
  }
}
