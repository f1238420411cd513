package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.pipeline.Pipeline;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LimitsHoldTest {
  @TempDir Path dir;
  private TestGateway gateway;
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void stop() {
    release.countDown();
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  private void start(HttpLimits limits) {
    gateway = TestGateway.start(dir, limits, List.of());
  }

  /** Alice's effect that runs until it is released, or cancelled. */
  private CompletableFuture<Reply> blocked(Envelope request) throws InterruptedException {
    gateway.home.driver.does(
        "sim",
        invocation -> {
          begun.countDown();
          try {
            release.await();
            return DriverOutcome.failed(DriverOutcome.End.FAILED, "released", "", none());
          } catch (InterruptedException e) {
            return DriverOutcome.failed(DriverOutcome.End.KILLED, "cancelled", "", none());
          }
        });
    CompletableFuture<Reply> reply =
        CompletableFuture.supplyAsync(() -> gateway.submit(request), Thread::startVirtualThread);
    begun.await();
    return reply;
  }

  private static DriverOutcome.Metrics none() {
    return new DriverOutcome.Metrics(0, 0, 0, 0);
  }

  @Test
  void aTenantThatIsBusyIsToldToWaitAndTheOtherIsServed() throws Exception {
    start(TestGateway.limits(10, 1, 100, 5000));
    var reply = blocked(gateway.home.ask("alice").tool("sim").sign());
    Reply busy = gateway.submit(gateway.home.ask("bob").sign());
    assertThat(busy.status()).isEqualTo(429);
    assertThat(busy.string("code")).isEqualTo("GWY-025");
    assertThat(busy.header("Retry-After")).isEqualTo("1");
    assertThat(gateway.get("bob", "/v1/runs").status()).isEqualTo(429);
    assertThat(gateway.submit(gateway.home.ask("eve").sign()).status()).isEqualTo(200);
    release.countDown();
    assertThat(reply.get().status()).isEqualTo(200);
    assertThat(gateway.submit(gateway.home.ask("bob").run("of-bob").sign()).status())
        .isEqualTo(200);
  }

  @Test
  void aServerAtItsLimitSaysSo() throws Exception {
    start(TestGateway.limits(1, 1, 100, 5000));
    var reply = blocked(gateway.home.ask("alice").tool("sim").sign());
    Reply busy = gateway.submit(gateway.home.ask("eve").sign());
    assertThat(busy.status()).isEqualTo(503);
    assertThat(busy.string("code")).isEqualTo("GWY-026");
    assertThat(busy.header("Retry-After")).isEqualTo("1");
    release.countDown();
    reply.get();
  }

  /** Whoever keeps to its limit is never refused: an answer that is there holds no place. */
  @Test
  void aPlaceIsFreeBeforeItsAnswerIsThere() {
    start(TestGateway.limits(1, 1, 100, 5000));
    for (int i = 0; i < 400; i++) {
      assertThat(gateway.get("alice", "/v1/runs").status()).as("call " + i).isEqualTo(200);
    }
  }

  @Test
  void aDrainingServerFinishesWhatIsAtWorkAndTakesNothingNew() throws Exception {
    start(TestGateway.limits(10, 10, 100, 5000));
    var reply = blocked(gateway.home.ask("alice").tool("sim").sign());
    assertThat(gateway.server.drain(Duration.ZERO)).isFalse();
    Reply refused = gateway.submit(gateway.home.ask("eve").sign());
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.string("code")).isEqualTo("GWY-027");
    assertThat(gateway.pipeline.isDraining()).isTrue();
    release.countDown();
    assertThat(reply.get().status()).isEqualTo(200);
    assertThat(gateway.server.drain(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void aRunningEffectIsCancelledByItsOwnerAloneAndEndsInAReceipt() throws Exception {
    start(TestGateway.limits(10, 10, 100, 5000));
    Envelope request = gateway.home.ask("alice").tool("sim").sign();
    var reply = blocked(request);
    String path = "/v1/executions/" + request.id() + "/cancel";
    for (String stranger : List.of("bob", "eve")) {
      Reply refused = gateway.send(gateway.as(stranger, path).POST(empty()));
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.string("code")).isEqualTo("GWY-041");
    }
    assertThat(gateway.send(gateway.as("alice", path).POST(empty())).status()).isEqualTo(202);
    Reply killed = reply.get();
    assertThat(killed.status()).isEqualTo(200);
    var receipt = Envelope.parse(Jcs.write(killed.json().get("receipt")));
    assertThat(((JsonValue.Obj) receipt.document()).get("status"))
        .isEqualTo(JsonValue.of("killed"));
    assertThat(gateway.send(gateway.as("alice", path).POST(empty())).string("code"))
        .isEqualTo("GWY-041");
  }

  private static HttpRequest.BodyPublisher empty() {
    return HttpRequest.BodyPublishers.noBody();
  }

  @Test
  void headsAndBodiesHaveTheirMeasure() {
    start(TestGateway.limits(10, 10, 100, 5000));
    assertThat(gateway.raw("GET /" + "x".repeat(5000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .contains(" 431 ")
        .contains("GWY-016");
    assertThat(
            gateway.raw(
                "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(20000) + "\r\n\r\n"))
        .startsWith("HTTP/1.1 431");
    assertThat(
            gateway.raw(
                "POST /v1/effects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n"))
        .startsWith("HTTP/1.1 413")
        .contains("GWY-014");
    String chunk = "10000\r\n" + "x".repeat(0x10000) + "\r\n";
    assertThat(
            gateway.raw(
                "POST /v1/approvals HTTP/1.1\r\n"
                    + "Host: localhost\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n"
                    + chunk
                    + chunk))
        .startsWith("HTTP/1.1 413");
    assertThat(
            gateway.raw("GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"))
        .startsWith("HTTP/1.1 400")
        .contains("GWY-015");
    assertThat(gateway.raw("GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 404")
        .contains("GWY-011");
    assertThat(
            gateway.raw(
                "GET /v1/vouched-effects/x HTTP/1.1\r\n"
                    + "Host: localhost\r\n"
                    + "Connection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 404")
        .contains("GWY-011", "is of the surface vouched");
    assertThat(
            gateway.raw(
                "GET /v1/v1/tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 404")
        .contains("GWY-011", "a client's address ends before that");
    assertThat(
            gateway.raw(
                "DELETE /v1/decisions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 405")
        .contains("GWY-012")
        .containsIgnoringCase("allow: POST");
    assertThat(
            gateway.raw(
                "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\n"
                    + "Authorization: Bearer b\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 400")
        .contains("GWY-013");
    assertThat(
            gateway.raw(
                "GET /v1/runs/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        .contains("GWY-010");
  }

  @Test
  void whoIsTooSlowIsCutOff() throws Exception {
    start(TestGateway.limits(10, 10, 100, 300));
    assertThat(gateway.raw("GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")).isEmpty();
    assertThat(gateway.raw("")).isEmpty();
    assertThat(
            gateway.raw(
                "POST /v1/effects HTTP/1.1\r\n"
                    + "Host: localhost\r\n"
                    + "Content-Length: 100\r\n\r\n"
                    + "half of it"))
        .startsWith("HTTP/1.1 408")
        .contains("GWY-017");
    assertThat(
            gateway.raw(
                "PUT /v1/blobs/sha256:"
                    + "0".repeat(64)
                    + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-of-alice\r\n"
                    + "Content-Length: 100\r\n\r\nhalf of it"))
        .startsWith("HTTP/1.1 408");
    assertThat(gateway.server.drain(Duration.ofSeconds(30))).as("no place is lost").isTrue();
  }

  /** A connection on which one request was answered. */
  private Socket connection(String headers) throws Exception {
    Socket socket = new Socket("127.0.0.1", gateway.server.port());
    socket.setSoTimeout(20_000);
    String request = "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    byte[] answer = new byte[8192];
    assertThat(socket.getInputStream().read(answer)).isGreaterThan(12);
    return socket;
  }

  @Test
  void oneAddressHasOnlySoManyConnections() throws Exception {
    start(TestGateway.limits(10, 10, 2, 5000));
    String credential = "Authorization: Bearer token-of-alice\r\n";
    try (Socket first = connection(credential);
        Socket second = connection(credential)) {
      assertThat(gateway.raw("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")).isEmpty();
      assertThat(first.isClosed() || second.isClosed()).isFalse();
    }
  }

  @Test
  void whoStandsIdleWithoutACredentialMakesRoomForANewConnection() throws Exception {
    start(TestGateway.limits(10, 10, 2, 5000));
    String credential = "Authorization: Bearer token-of-alice\r\n";
    byte[] health =
        "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    try (Socket known = connection(credential);
        Socket unknown = connection("")) {
      String answer = "";
      while (answer.isEmpty()) { // until the other one's answer counts as sent
        answer =
            gateway.raw(
                new String(health, StandardCharsets.US_ASCII)
                    .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      }
      assertThat(answer).startsWith("HTTP/1.1 404");
      assertThat(unknown.getInputStream().read()).as("the idle one is closed").isEqualTo(-1);
      known.getOutputStream().write(health);
      assertThat(known.getInputStream().read()).isEqualTo('H');
    }
  }

  @Test
  void anAddressThatOthersReachNeedsProtection() {
    start(HttpLimits.DEFAULT);
    for (String host : List.of("0.0.0.0", "192.0.2.1", "::")) {
      assertThatThrownBy(() -> new Listen(host, 0, new Listen.Protection.None()))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GWY-003");
    }
    assertThat(new Listen("0.0.0.0", 0, new Listen.Protection.Proxy()).isLoopback()).isFalse();
    assertThat(new Listen("::1", 0, new Listen.Protection.None()).isLoopback()).isTrue();
    assertThatThrownBy(() ->
            GatewayServer.start(
                new GatewayServer.Config(
                    Listen.loopback(gateway.server.port()),
                    HttpLimits.DEFAULT,
                    List.of(),
                    List.of(),
                    GatewayServer.places(HttpLimits.DEFAULT),
                    _ -> {},
                    (_, _) -> {},
                    gateway.home.clock,
                    new java.security.SecureRandom())))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-004");
  }

  @Test
  void whatNobodyForesawIsA500WithoutAWordOfIt() {
    Surface broken =
        new Surface() {
          @Override
          public String name() {
            return "broken";
          }

          @Override
          public List<Route> routes() {
            return List.of(
                Route.get(
                    "/broken",
                    Route.Access.PUBLIC,
                    _ -> {
                      throw new IllegalStateException("a secret in a message");
                    }));
          }
        };
    gateway = TestGateway.start(dir, HttpLimits.DEFAULT, List.of(broken));
    Reply reply = gateway.send(HttpRequest.newBuilder(gateway.uri("/broken")));
    assertThat(reply.status()).isEqualTo(500);
    assertThat(reply.string("code")).isEqualTo("GWY-070");
    assertThat(reply.text()).doesNotContain("secret").doesNotContain("Illegal");
    assertThat(gateway.failures).hasSize(1);
    gateway.failures.clear();
  }

  @Test
  void aSurfacePhrasesTheServersRefusalsItsOwnWay() {
    Surface own =
        new Surface() {
          @Override
          public String name() {
            return "own";
          }

          @Override
          public List<Route> routes() {
            return List.of(
                Route.post("/same", Route.Access.SURFACE, 4, _ -> HttpAnswer.text(200, "first"))
                    .when(headers -> headers.has("X-First")),
                Route.post("/same", Route.Access.SURFACE, 4, _ -> HttpAnswer.text(200, "second")));
          }

          @Override
          public Optional<HttpAnswer> refusal(int status, WritException refused) {
            return Optional.of(HttpAnswer.text(status, "own words for " + refused.code().code()));
          }
        };
    gateway = TestGateway.start(dir, HttpLimits.DEFAULT, List.of(own));
    HttpRequest.Builder post = HttpRequest.newBuilder(gateway.uri("/same"));
    assertThat(gateway.send(post.copy().header("X-First", "1").POST(empty())).text())
        .isEqualTo("first");
    assertThat(gateway.send(post.copy().POST(empty())).text()).isEqualTo("second");
    Reply large = gateway.send(post.copy().POST(HttpRequest.BodyPublishers.ofString("12345")));
    assertThat(large.status()).isEqualTo(413);
    assertThat(large.text()).isEqualTo("own words for GWY-014");
  }

  @Test
  void aSurfaceWithoutAKeyForATenantVouchesForNobody() {
    start(HttpLimits.DEFAULT);
    var effect = gateway.home.ask("alice").request().effect();
    var vouched =
        new Pipeline.Vouched(
            TestGateway.SURFACE,
            "bearer",
            "somebody",
            Digest.sha256(),
            TestKeys.OTHER_TENANT,
            "run-1",
            "eve",
            effect,
            List.of(),
            Optional.empty(),
            true,
            JsonValue.object().build());
    assertThatThrownBy(() -> gateway.pipeline.vouch(vouched))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-030");
  }
}
