package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.Tokens;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tokens, certificates, origins and the files of TLS change while the server goes on. */
@Timeout(120)
class AConfigurationIsReloadedTest {
  private static final String PLAIN = "writ_gateway: 1\nlisten: { port: 0 }\n";
  private static final String OWN =
      "writ_gateway: 1\nlisten: { host: 127.0.0.1, port: 0, tls: own, certificate: server.pem,"
          + " key: server.key MORE}\n";
  private static final String BUILDERS =
      "certificates:\n"
          + "  - { name: builders, dn: \"CN=builder, O=acme\", tenant: acme, subject: alice }\n";

  private static final String END = "writ_tls_certificate_end_seconds";

  @TempDir Path dir;
  private WholeGateway server;

  private WholeGateway start(String yaml) {
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    home.clock.set(Instant.now()); // certificates are of now
    server = new WholeGateway(home, yaml, dir);
    return server;
  }

  @AfterEach
  void stop() throws IOException {
    if (server != null) {
      server.close();
    }
  }

  private GatewayConfig read(String yaml) {
    return GatewayConfig.parse(yaml.getBytes(StandardCharsets.UTF_8), "gateway.yaml", Map.of())
        .inFolder(dir);
  }

  /** What the log says of it. */
  private JsonValue.Obj reloaded(String yaml) {
    server.gateway.reload(() -> read(yaml));
    List<JsonValue.Obj> lines =
        server.logged().stream()
            .filter(line -> List.of("reload", "reloaded").contains(word(line, "event")))
            .toList();
    return lines.getLast();
  }

  private static String word(JsonValue.Obj line, String name) {
    return line.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  private void taken(String yaml) {
    JsonValue.Obj line = reloaded(yaml);
    assertThat(word(line, "event")).as(line.toString()).isEqualTo("reloaded");
  }

  private void refused(String yaml, String code, String found) {
    JsonValue.Obj line = reloaded(yaml);
    assertThat(word(line, "event")).isEqualTo("reload");
    assertThat(word(line, "level")).isEqualTo("error");
    assertThat(word(line, "code")).isEqualTo(code);
    assertThat(word(line, "detail")).contains(found);
  }

  private static String tokens(String... names) {
    StringBuilder all = new StringBuilder("tokens:\n");
    for (String name : names) {
      String[] parts = name.split(" ", 2);
      all.append(WholeGateway.token(parts[0], "alice", parts.length == 1 ? "" : parts[1]));
    }
    return all.toString();
  }

  private int status(String token) throws Exception {
    return server.get(token, "/v1/runs").statusCode();
  }

  private String end() {
    return server.gateway.metrics().text().lines().filter(l -> l.startsWith(END)).findFirst().get();
  }

  @Test
  void whenTheCertificateEndsIsMeasuredOfTheOneInForce() throws Exception {
    String loopback = "IP:127.0.0.1,DNS:localhost";
    TestCertificates pki =
        new TestCertificates(dir).authority("ca").issue("server", "/CN=a", "ca", loopback, 1);
    String yaml = OWN.replace("MORE", "");
    start(yaml);
    String first = pki.end("server");
    assertThat(end()).isEqualTo(END + "{of=\"callers\"}" + first);
    pki.issue("server", "/CN=b", "ca", loopback, 2);
    assertThat(end()).as("not in force").endsWith(first);
    taken(yaml);
    assertThat(end()).endsWith(pki.end("server")).doesNotEndWith(first);
    String second = pki.end("server");
    Files.writeString(pki.pem("server"), "nothing");
    refused(yaml, "GWY-007", "server.pem");
    assertThat(end()).as("the former stays").endsWith(second);
  }

  @Test
  void withoutTlsNoCertificateEnds() {
    start(PLAIN);
    assertThat(server.gateway.metrics().text()).doesNotContain(END);
  }

  @Test
  void aRemovedTokenIsRefusedFromThenOnAndANewOneDoes() throws Exception {
    start(PLAIN + tokens("old", "staying"));
    assertThat(status("old")).isEqualTo(200);
    assertThat(status("new")).isEqualTo(401);
    taken(PLAIN + tokens("staying", "new"));
    assertThat(status("old")).isEqualTo(401); // on the connection that it had been taken on
    assertThat(status("staying")).isEqualTo(200);
    assertThat(status("new")).isEqualTo(200);
    // The same credential, narrowed to a role without that tool.
    assertThat(server.post("staying", "/test/r/calc", "{}").statusCode()).isEqualTo(200);
    taken(PLAIN + tokens("staying roles: [stand-in]"));
    assertThat(server.post("staying", "/test/r/calc", "{}").body()).isEqualTo("GRD-405");
    taken(PLAIN);
    assertThat(status("staying")).isEqualTo(401);
  }

  @Test
  void aCallAtWorkIsFinishedAsWhoItWasLetInFor() throws Exception {
    start(PLAIN + tokens("leaving roles: [worker]"));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    server.home.driver.does("calc", Behaviours.blocks(begun, goOn));
    CompletableFuture<HttpResponse<String>> atWork =
        CompletableFuture.supplyAsync(() -> {
          try {
            return server.post("leaving", "/test/r/calc", "{}");
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    begun.await();
    taken(PLAIN);
    assertThat(status("leaving")).isEqualTo(401);
    goOn.countDown();
    assertThat(atWork.get().statusCode()).isEqualTo(200);
    // What it was narrowed to is not forgotten: no role would mean all of them.
    assertThat(new CredentialScopes(read(PLAIN)).rolesOf("bearer", "leaving")).isEmpty();
    CredentialScopes narrowed =
        new CredentialScopes(read(PLAIN + tokens("leaving roles: [worker]")));
    narrowed.add(read(PLAIN));
    assertThat(narrowed.rolesOf("bearer", "leaving")).containsExactly("worker");
  }

  @Test
  void whatCannotBeTakenChangesNothingAndIsLogged() throws Exception {
    start(PLAIN + tokens("old"));
    String next = PLAIN + tokens("new");
    refused(next + "unknown: 1\n", "GWY-002", "unknown");
    refused(next.replace("port: 0", "port: 81, host: 0.0.0.0"), "GWY-003", "0.0.0.0");
    refused(next.replace("port: 0", "port: 81"), "GWY-006", "listen");
    refused(next + "limits: { concurrent_max: 7 }\ndrain_s: 9\n", "GWY-006", "limits, drain_s");
    refused(next + "blob_bytes_max: 9\n", "GWY-006", "blob_bytes_max");
    refused(next + "surfaces: { mcp: { } }\n", "GWY-006", "surfaces");
    refused(next + "telemetry: { otlp: \"http://127.0.0.1:1/\" }\n", "GWY-006", "telemetry");
    refused(next + tokens("new").replace("tokens:\n", ""), "GWY-002", "two tokens");
    server.gateway.reload(() -> {
      throw new IllegalStateException("a path of this host");
    });
    assertThat(status("new")).isEqualTo(401);
    assertThat(status("old")).isEqualTo(200);
    assertThat(server.logged().toString()).doesNotContain("a path of");
    taken(next);
    assertThat(status("old")).isEqualTo(401);
    server.gateway.close();
    server.gateway.reload(() -> {
      throw new AssertionError("a stopped server reads nothing");
    });
  }

  @Test
  void pagesOfAnotherOriginMayCallFromThenOnAndNoMore() throws Exception {
    start(PLAIN);
    HttpRequest.Builder page = server.to("/health").header("Origin", "https://a.example").GET();
    String header = "Access-Control-Allow-Origin";
    assertThat(server.send(page).headers().firstValue(header)).isEmpty();
    taken(PLAIN + "origins: [\"https://a.example\"]\n");
    assertThat(server.send(page).headers().firstValue(header)).contains("https://a.example");
    taken(PLAIN);
    assertThat(server.send(page).headers().firstValue(header)).isEmpty();
  }

  private TestCertificates pki() throws Exception {
    return new TestCertificates(dir).authority("ca").issue("server", "/CN=server", "ca");
  }

  private void replace(String name, String by) throws IOException {
    for (String kind : List.of(".pem", ".key")) {
      Files.copy(
          dir.resolve(by + kind), dir.resolve(name + kind), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static HttpClient client(SSLContext tls) {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(tls).build();
  }

  private HttpResponse<String> get(HttpClient client, String path) throws Exception {
    return client.send(server.to(path).GET().build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void newConnectionsMeetTheNewCertificateAndOldOnesGoOn() throws Exception {
    TestCertificates pki = pki();
    start(OWN.replace("MORE", "") + tokens("alices"));
    try (HttpClient before = client(pki.client("ca", Optional.empty()))) {
      assertThat(get(before, "/health").statusCode()).isEqualTo(200);
      pki.authority("next").issue("renewed", "/CN=server", "next");
      SSLContext ofNext = pki.client("next", Optional.empty());
      replace("server", "renewed");
      assertThatThrownBy(() -> server.send(server.to("/health").GET(), ofNext))
          .isInstanceOf(IOException.class);
      taken(OWN.replace("MORE", "") + tokens("alices"));
      for (int i = 0; i < 4; i++) { // on every loop
        assertThat(server.send(server.to("/health").GET(), ofNext).statusCode()).isEqualTo(200);
      }
      assertThat(get(before, "/health").statusCode()).isEqualTo(200); // as it was connected
      assertThatThrownBy(
              () -> server.send(server.to("/health").GET(), pki.client("ca", Optional.empty())))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void filesThatDoNotFitStayOut() throws Exception {
    TestCertificates pki = pki().issue("other", "/CN=server", "ca");
    String yaml = OWN.replace("MORE", ", client_ca: ca.pem ") + BUILDERS;
    byte[] certificate = Files.readAllBytes(pki.pem("server"));
    byte[] key = Files.readAllBytes(pki.key("server"));
    pki.issue("builder", "/O=acme/CN=builder", "ca");
    start(yaml);
    SSLContext builder = pki.client("ca", Optional.of("builder"));
    Files.write(pki.pem("server"), Files.readAllBytes(pki.pem("other")));
    refused(yaml, "GWY-007", "is not the key of");
    Files.write(pki.pem("server"), "-----BEGIN CERTIFICATE-----\nAAAA\n".getBytes());
    refused(yaml, "GWY-007", "server.pem");
    Files.delete(pki.pem("server"));
    refused(yaml, "GWY-007", "NoSuchFileException");
    Files.write(pki.pem("server"), certificate);
    Files.write(pki.key("server"), "no key".getBytes());
    refused(yaml, "GWY-007", "server.key");
    Files.write(pki.key("server"), key);
    byte[] authority = Files.readAllBytes(pki.pem("ca"));
    Files.write(pki.pem("ca"), "no certificate".getBytes());
    refused(yaml, "GWY-007", "ca.pem");
    Files.write(pki.pem("ca"), authority);
    assertThat(server.send(server.to("/v1/runs").GET(), builder).statusCode()).isEqualTo(200);
    taken(yaml);
    server.home.clock.leap(Duration.ofDays(-1));
    refused(yaml, "GWY-007", "begins at");
    server.home.clock.leap(Duration.ofDays(1));
    taken(yaml);
    server.home.clock.forward(Duration.ofDays(3));
    refused(yaml, "GWY-007", "ended at");
    replace("server", "other");
    Files.write(pki.key("server"), key);
    server.close();
    server = null;
    assertThatThrownBy(
            () -> new WholeGateway(TestGateway.newHome(dir.resolve("second")), yaml, dir))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-007");
  }

  @Test
  void whoseAuthorityIsReplacedIsAskedAgainOnTheConnectionThatStands() throws Exception {
    TestCertificates pki = pki().issue("builder", "/O=acme/CN=builder", "ca");
    Files.copy(pki.pem("ca"), pki.pem("clients"));
    String yaml = OWN.replace("MORE", ", client_ca: clients.pem ") + BUILDERS;
    start(yaml);
    try (HttpClient builder = client(pki.client("ca", Optional.of("builder")))) {
      assertThat(get(builder, "/v1/runs").statusCode()).isEqualTo(200);
      // Both, as a change of authorities is done: nobody is disturbed.
      pki.authority("next").issue("renewed", "/O=acme/CN=builder", "next");
      Files.writeString(
          pki.pem("clients"), Files.readString(pki.pem("ca")) + Files.readString(pki.pem("next")));
      taken(yaml);
      assertThat(get(builder, "/v1/runs").statusCode()).isEqualTo(200);
      assertThat(
              server
                  .send(server.to("/v1/runs").GET(), pki.client("ca", Optional.of("builder")))
                  .statusCode())
          .isEqualTo(200);
      Files.copy(pki.pem("next"), pki.pem("clients"), StandardCopyOption.REPLACE_EXISTING);
      taken(yaml);
      HttpResponse<String> gone = get(builder, "/v1/runs");
      assertThat(gone.statusCode()).isEqualTo(401);
      assertThat(gone.body()).contains("GWY-020");
      assertThat(gone.headers().firstValue("Connection")).contains("close");
      // It cannot take up its old session either.
      assertThatThrownBy(() -> get(builder, "/v1/runs")).isInstanceOf(IOException.class);
    }
  }

  @Test
  void aTokenAloneIsNotEnoughOnAConnectionFromBeforeCertificatesWereDemanded() throws Exception {
    TestCertificates pki = pki();
    start(OWN.replace("MORE", "") + tokens("alices"));
    try (HttpClient open = client(pki.client("ca", Optional.empty()))) {
      HttpRequest runs = server.as("alices", "/v1/runs").GET().build();
      assertThat(open.send(runs, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      taken(
          OWN.replace("MORE", ", client_ca: ca.pem, client_certificate: offered ")
              + tokens("alices"));
      assertThat(open.send(runs, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      taken(OWN.replace("MORE", ", client_ca: ca.pem ") + tokens("alices"));
      HttpResponse<String> refused = open.send(runs, HttpResponse.BodyHandlers.ofString());
      assertThat(refused.body()).contains("GWY-020");
      assertThatThrownBy(() -> open.send(runs, HttpResponse.BodyHandlers.ofString()))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void theTokenThatTheServerMadeForItselfIsNoneThatSomebodyConfigured() {
    start(PLAIN);
    Tokens.Entry own =
        new Tokens.Entry(
            GatewayConfig.OWN_TOKEN,
            Tokens.digest("a token of this test"),
            "acme",
            "alice",
            List.of(),
            Optional.empty());
    server.gateway.reload(() -> read(PLAIN + tokens("one", "two")).withToken(own));
    assertThat(word(server.logged().getLast(), "detail"))
        .isEqualTo("tokens: 2, certificates: 0, origins: 0");
  }
}
