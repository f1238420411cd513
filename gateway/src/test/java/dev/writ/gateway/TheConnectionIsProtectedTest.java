package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Request;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS over a socket, and callers who are known by their certificates. */
class TheConnectionIsProtectedTest {
  private static final String OWN =
      "writ_gateway: 1\nlisten: { host: 127.0.0.1, port: 0, tls: own, certificate: server.pem,"
          + " key: server.key MORE}\n";
  private static final String CERTIFICATES =
      """
      certificates:
        - { name: builders, dn: "CN=builder, O=acme", tenant: acme, subject: alice }
        - { name: lookers, dn: "CN=looker, O=acme", tenant: acme, subject: alice, roles: [stand-in] }
        - { name: others, dn: "CN=eve, O=other", tenant: other, subject: eve }
      """;

  @TempDir Path dir;
  private TestCertificates pki;
  private WholeGateway server;

  @BeforeEach
  void certificates() throws Exception {
    pki = new TestCertificates(dir).authority("ca").issue("server", "/CN=server", "ca");
  }

  @AfterEach
  void stop() throws IOException {
    if (server != null) {
      server.close();
    }
  }

  private void start(String more, String rest) {
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    home.clock.set(Instant.now()); // certificates are of now
    server = new WholeGateway(home, OWN.replace("MORE", more) + rest, dir);
  }

  private int health(SSLContext client) throws Exception {
    return server.send(server.to("/health").GET(), client).statusCode();
  }

  private HttpResponse<String> effect(SSLContext client) throws Exception {
    return server.send(
        server.to("/test/r/calc").POST(HttpRequest.BodyPublishers.ofString("{}")), client);
  }

  @Test
  void tlsIsSpokenAndNothingElse() throws Exception {
    start("", "tokens:\n" + WholeGateway.token("alices", "alice", ""));
    SSLContext trusting = pki.client("ca", Optional.empty());
    assertThat(server.gateway.url()).startsWith("https://");
    assertThat(health(trusting)).isEqualTo(200);
    assertThat(server.send(server.as("alices", "/v1/runs").GET(), trusting).statusCode())
        .isEqualTo(200);
    pki.authority("stranger");
    assertThatThrownBy(() -> health(pki.client("stranger", Optional.empty())))
        .isInstanceOf(SSLHandshakeException.class);
    // In the clear there is no HTTP.
    try (java.net.Socket socket = new java.net.Socket("127.0.0.1", server.gateway.port())) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes());
      byte[] answer = socket.getInputStream().readAllBytes();
      assertThat(new String(answer, StandardCharsets.ISO_8859_1)).doesNotContain("HTTP/1.1");
    }
    SSLParameters old = new SSLParameters();
    old.setProtocols(new String[] {"TLSv1.1"});
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(trusting).sslParameters(old).build()) {
      assertThatThrownBy(() ->
              client.send(server.to("/health").GET().build(), HttpResponse.BodyHandlers.ofString()))
          .isInstanceOf(IOException.class);
    }
    // What is open on loopback needs a credential where TLS says that others are about.
    assertThat(server.send(server.to("/metrics").GET(), trusting).statusCode()).isEqualTo(401);
  }

  @Test
  void handshakesThatNeverEndAreConnectionsAndMakeRoom() throws Exception {
    start("", "limits: { connections_per_address_max: 8 }\n");
    List<java.net.Socket> silent = new ArrayList<>();
    byte[] hello = {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3};
    for (int i = 0; i < 20; i++) {
      java.net.Socket socket = new java.net.Socket("127.0.0.1", server.gateway.port());
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write(hello, 0, i % 2 == 0 ? 0 : hello.length);
      silent.add(socket);
    }
    SSLContext trusting = pki.client("ca", Optional.empty());
    assertThat(health(trusting)).isEqualTo(200);
    for (java.net.Socket closed : silent.subList(0, 12)) {
      assertThat(closed.getInputStream().read()).isEqualTo(-1);
    }
    for (java.net.Socket socket : silent) {
      socket.close();
    }
  }

  @Test
  void aCertificateIsACredentialThatIsBoundToTenantSubjectAndRoles() throws Exception {
    pki.issue("builder", "/O=acme/CN=builder", "ca")
        .issue("looker", "/O=acme/CN=looker", "ca")
        .issue("eve", "/O=other/CN=eve", "ca")
        .issue("unnamed", "/O=acme/CN=somebody", "ca");
    start(", client_ca: ca.pem ", CERTIFICATES + "tokens:\n" + token());
    HttpResponse<String> done = effect(pki.client("ca", Optional.of("builder")));
    assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
    Request request =
        Request.read(
            server
                .home
                .document(
                    server
                        .home
                        .kernel()
                        .receipt("acme", Digest.parse(done.body()))
                        .receipt()
                        .request())
                .document());
    assertThat(request.origin().orElseThrow().method()).isEqualTo("mtls");
    assertThat(request.origin().orElseThrow().principal()).isEqualTo("builders");
    assertThat(request.origin().orElseThrow().roles()).isEmpty();
    HttpResponse<String> narrowed = effect(pki.client("ca", Optional.of("looker")));
    assertThat(narrowed.body()).isEqualTo("GRD-405");
    String receipt = "/v1/receipts/" + done.body();
    assertThat(read(receipt, "looker").statusCode()).isEqualTo(200);
    assertThat(read(receipt, "eve").statusCode()).isEqualTo(404);
    assertThat(read(receipt, "unnamed").body()).contains("GWY-020");
    // The header is what counts where there is one.
    HttpResponse<String> both =
        server.send(
            server.to(receipt).header("Authorization", "Bearer token-of-eves").GET(),
            pki.client("ca", Optional.of("builder")));
    assertThat(both.statusCode()).isEqualTo(404);
  }

  private static String token() {
    return WholeGateway.token("eves", "eve", "");
  }

  private HttpResponse<String> read(String path, String as) throws Exception {
    return server.send(server.to(path).GET(), pki.client("ca", Optional.of(as)));
  }

  @Test
  void withoutACertificateOfTheAuthorityThereIsNoConnection() throws Exception {
    pki.authority("stranger").issue("forged", "/O=acme/CN=builder", "stranger");
    start(", client_ca: ca.pem ", CERTIFICATES);
    for (Optional<String> shown : List.of(Optional.<String>empty(), Optional.of("forged"))) {
      assertThatThrownBy(() -> health(pki.client("ca", shown)))
          .as("%s", shown)
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void whereItIsOfferedATokenDoesAndAForgedOneStillDoesNot() throws Exception {
    pki.authority("stranger").issue("forged", "/O=acme/CN=builder", "stranger");
    start(
        ", client_ca: ca.pem, client_certificate: offered ", CERTIFICATES + "tokens:\n" + token());
    SSLContext none = pki.client("ca", Optional.empty());
    assertThat(health(none)).isEqualTo(200);
    assertThat(effect(none).statusCode()).isEqualTo(401);
    assertThat(server.send(server.as("eves", "/v1/runs").GET(), none).statusCode()).isEqualTo(200);
    // A client shows none of a foreign authority's, or the handshake fails: it is never alice.
    SSLContext forged = pki.client("ca", Optional.of("forged"));
    try {
      assertThat(effect(forged).statusCode()).isEqualTo(401);
    } catch (IOException e) {
      assertThat(e).hasMessageNotContaining("200");
    }
  }

  /** A browser shows it for whatever page asks, and a form is sent without asking. */
  @Test
  void anotherSitesPageChangesNothingByACertificate() throws Exception {
    pki.issue("builder", "/O=acme/CN=builder", "ca");
    start(", client_ca: ca.pem ", CERTIFICATES);
    SSLContext builder = pki.client("ca", Optional.of("builder"));
    for (String[] mark :
        List.of(
            new String[] {"Sec-Fetch-Site", "cross-site"},
            new String[] {"Sec-Fetch-Site", "same-site"},
            new String[] {"Origin", "https://evil.example"})) {
      HttpRequest.Builder forged = server.to("/test/r/calc").header(mark[0], mark[1]);
      HttpResponse<String> answer =
          server.send(forged.POST(HttpRequest.BodyPublishers.ofString("{}")), builder);
      assertThat(answer.body()).as(mark[1]).contains("GWY-092");
    }
    HttpRequest.Builder own = server.to("/test/r/calc").header("Sec-Fetch-Site", "same-origin");
    assertThat(
            server.send(own.POST(HttpRequest.BodyPublishers.ofString("{}")), builder).statusCode())
        .isEqualTo(200);
    assertThat(effect(builder).statusCode()).as("no browser").isEqualTo(200);
    HttpRequest.Builder link = server.to("/v1/runs").header("Sec-Fetch-Site", "cross-site");
    assertThat(server.send(link.GET(), builder).statusCode()).isEqualTo(200);
  }

  @Test
  void aConnectionDoesNotOutliveItsCertificate() throws Exception {
    pki.issue("builder", "/O=acme/CN=builder", "ca");
    start(", client_ca: ca.pem ", CERTIFICATES);
    try (HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .sslContext(pki.client("ca", Optional.of("builder")))
            .build()) {
      HttpRequest request = server.to("/v1/runs").GET().build();
      assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
          .isEqualTo(200);
      server.home.clock.forward(Duration.ofDays(3));
      assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).body())
          .contains("GWY-020");
    }
  }

  @Test
  void beyondLoopbackItTakesTlsOrTheWordThatAProxyDoesIt() throws Exception {
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    String open = "writ_gateway: 1\nlisten: { host: 0.0.0.0, port: 0, tls: WORD }\n";
    assertThatThrownBy(() -> new WholeGateway(home, open.replace("WORD", "none"), dir))
        .hasMessageContaining("GWY-003");
    server = new WholeGateway(home, open.replace("WORD", "proxy"), dir);
    String local = "http://127.0.0.1:" + server.gateway.port();
    for (String path : List.of("/metrics", "/v1/runs", "/v1/keys")) {
      HttpResponse<String> answer =
          server.send(HttpRequest.newBuilder(java.net.URI.create(local + path)).GET());
      assertThat(answer.statusCode()).as(path).isEqualTo(401);
    }
  }

  @Test
  void behindAProxyOnLoopbackMetricsAreNotForAnybody() throws Exception {
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    server = new WholeGateway(home, "writ_gateway: 1\nlisten: { port: 0, tls: proxy }\n", dir);
    assertThat(server.send(server.to("/metrics").GET()).statusCode()).isEqualTo(401);
  }
}
