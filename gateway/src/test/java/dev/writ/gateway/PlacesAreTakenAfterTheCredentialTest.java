package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.AddressRange;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.limit.TrustedProxies;
import dev.writ.gateway.http.message.HttpAnswer;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who shows no credential takes nothing from those who do, and nobody takes more than its part. */
class PlacesAreTakenAfterTheCredentialTest {
  private static final String POST =
      "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  private static final String DOCUMENT = "/v1/openapi.json";

  @TempDir Path dir;
  private TestGateway gateway;
  private final List<Socket> open = new ArrayList<>();

  @AfterEach
  void stop() throws Exception {
    for (Socket socket : open) {
      socket.close();
    }
    assertThat(gateway.failures).isEmpty();
    gateway.close();
  }

  /** Eight places in all, four of a tenant, two of a credential; two for who is not known. */
  private void start(long memoryMax) {
    start(memoryMax, HttpLimits.DEFAULT.connectionsMax(), HttpLimits.DEFAULT.writeWithin());
  }

  private void start(long memoryMax, int connectionsMax, Duration writeWithin) {
    start(memoryMax, connectionsMax, writeWithin, TrustedProxies.NONE);
  }

  private void start(
      long memoryMax, int connectionsMax, Duration writeWithin, TrustedProxies proxies) {
    HttpLimits d = HttpLimits.DEFAULT;
    HttpLimits limits =
        new HttpLimits(
            d.uriBytesMax(),
            d.headBytesMax(),
            d.headFieldsMax(),
            connectionsMax,
            Math.min(connectionsMax, d.connectionsPerAddressMax()),
            8,
            4,
            2,
            4,
            2,
            d.unverifiedBytesMax(),
            8,
            memoryMax,
            d.headWithin(),
            d.bodyWithin(),
            writeWithin,
            proxies);
    gateway =
        TestGateway.start(
            dir,
            limits,
            List.of(
                surface(
                    Route.post(
                        "/echo",
                        Route.Access.CALLER,
                        8 << 20,
                        call -> HttpAnswer.text(200, "" + call.body().length)))));
  }

  private static Surface surface(Route route) {
    return new Surface() {
      @Override
      public String name() {
        return "echo";
      }

      @Override
      public List<Route> routes() {
        return List.of(route);
      }
    };
  }

  private Socket send(String request) throws Exception {
    Socket socket = new Socket("127.0.0.1", gateway.server.port());
    socket.setSoTimeout(20_000);
    open.add(socket);
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String bearer(String name) {
    return "Authorization: Bearer " + TestGateway.tokenOf(name) + "\r\n";
  }

  /** What came until the answer's head was whole. */
  private static String head(Socket socket) throws Exception {
    StringBuilder read = new StringBuilder();
    InputStream in = socket.getInputStream();
    while (read.indexOf("\r\n\r\n") < 0) {
      int b = in.read();
      if (b < 0) {
        return read + "(closed)";
      }
      read.append((char) b);
    }
    return read.toString();
  }

  @Test
  void halfSentRequestsWithoutACredentialKeepNobodyOut() throws Exception {
    start(64 << 20);
    String half = POST.formatted("/v1/effects") + "Content-Length: 100\r\n\r\n{\"payload\":";
    List<Socket> hostile = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      hostile.add(send(half));
      assertThat(gateway.get("alice", "/v1/runs").status()).isEqualTo(200);
    }
    for (Socket evicted : hostile.subList(0, 18)) {
      assertThat(head(evicted)).startsWith("HTTP/1.1 503").contains("Retry-After: 1");
    }
    assertThat(gateway.places.unverified()).isEqualTo(2);
    assertThat(gateway.submit(gateway.home.ask("alice").sign()).status()).isEqualTo(200);
    assertThat(head(hostile.get(18))).as("it made room").startsWith("HTTP/1.1 503");
    hostile.get(19).close();
    nothingIsHeld();
  }

  /** All come from this machine, which is the proxy; what a stranger claims is not the proxy's. */
  @Test
  void behindAProxyEachCallerHasPlacesOfItsOwn() throws Exception {
    AddressRange here = AddressRange.parse("127.0.0.0/8").orElseThrow();
    HttpLimits d = HttpLimits.DEFAULT;
    start(64 << 20, d.connectionsMax(), d.writeWithin(), new TrustedProxies(List.of(here)));
    Socket waiting = send(halfOf("198.51.100.7"));
    List<Socket> hostile = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      hostile.add(send(halfOf("198.51.100.7, 203.0.113.9")));
    }
    for (Socket evicted : hostile.subList(0, 18)) {
      assertThat(head(evicted)).startsWith("HTTP/1.1 503");
    }
    assertThat(gateway.places.unverified()).isEqualTo(3);
    waiting.getOutputStream().write("x".repeat(100).getBytes(StandardCharsets.US_ASCII));
    assertThat(head(waiting)).as("it was read to its end").startsWith("HTTP/1.1 400");
    Await.until(() -> remotes().contains("198.51.100.7") && remotes().contains("203.0.113.9"));
    assertThat(remotes()).doesNotContain("127.0.0.1");
  }

  private List<String> remotes() {
    return gateway.finished.stream().map(Observer.Finished::remote).toList();
  }

  private static String halfOf(String forwardedFor) {
    return POST.formatted("/v1/effects")
        + "X-Forwarded-For: "
        + forwardedFor
        + "\r\nContent-Length: 110\r\n\r\n{\"payload\"";
  }

  /** What a call held is free a moment after its answer is out. */
  private void nothingIsHeld() {
    Await.until(() -> gateway.places.atWork() <= 0 && gateway.places.memoryUsed() <= 0);
  }

  @Test
  void nothingOfABodyIsKeptForACredentialThatDoesNotHold() throws Exception {
    start(64 << 20);
    String large = "Content-Length: 8388608\r\nExpect: 100-continue\r\n\r\n";
    for (String credential :
        List.of("", "Authorization: Bearer x\r\n", "Authorization: Writ e30\r\n")) {
      String head = head(send(POST.formatted("/echo") + credential + large));
      assertThat(head).matches("(?s)HTTP/1.1 40[01] .*").containsIgnoringCase("connection: close");
    }
    try (Socket known = send(POST.formatted("/echo") + bearer("alice") + large)) {
      assertThat(head(known)).startsWith("HTTP/1.1 100");
    }
    String stream = "PUT /v1/blobs/sha256:" + "0".repeat(64) + " HTTP/1.1\r\nHost: localhost\r\n";
    assertThat(head(send(stream + large))).startsWith("HTTP/1.1 401");
    nothingIsHeld();
  }

  /**
   * Also where it goes at the moment that its body is asked for: nobody waits until that is late.
   */
  @Test
  void whoGoesAwayHoldsNothing() throws Exception {
    start(64 << 20);
    String asked = "Content-Length: 8388608\r\nExpect: 100-continue\r\n\r\n";
    for (int i = 0; i < 100; i++) {
      try (Socket known = send(POST.formatted("/echo") + bearer("alice") + asked)) {
        assertThat(head(known)).startsWith("HTTP/1.1 100");
      }
      nothingIsHeld();
      assertThat(gateway.finished).extracting(Observer.Finished::status).doesNotContain(408);
    }
  }

  @Test
  void aSignedDocumentMayShowACredentialWhichMustHold() throws Exception {
    start(64 << 20);
    byte[] request = gateway.home.ask("alice").sign().toBytes();
    for (String credential : List.of("Bearer " + TestGateway.tokenOf("alice"), "Bearer wrong")) {
      Reply reply =
          gateway.send(
              HttpRequest.newBuilder(gateway.uri("/v1/effects"))
                  .header("Content-Type", "application/json")
                  .header("Authorization", credential)
                  .POST(HttpRequest.BodyPublishers.ofByteArray(request)));
      assertThat(reply.status()).isEqualTo(credential.endsWith("wrong") ? 401 : 200);
    }
  }

  @Test
  void withoutACredentialInTheHeadABodyIsSmallerThanTheRouteTakes() throws Exception {
    start(64 << 20);
    String head = POST.formatted("/v1/executions");
    assertThat(gateway.raw(head + "Content-Length: 5000000\r\n\r\n"))
        .startsWith("HTTP/1.1 413")
        .contains("GWY-043");
    assertThat(gateway.raw(head + bearer("alice") + "Content-Length: 9000000\r\n\r\n"))
        .contains("GWY-014");
    assertThat(
            gateway.raw(
                head
                    + "Transfer-Encoding: chunked\r\n\r\n"
                    + ("100000\r\n" + "x".repeat(0x100000) + "\r\n").repeat(5)))
        .contains("GWY-043");
  }

  @Test
  void oneCredentialsHalfSentBodiesTakeItsOwnPlacesAndNobodyElses() throws Exception {
    start(64 << 20);
    String half = POST.formatted("/echo") + bearer("bob") + "Content-Length: 9\r\n\r\nx";
    send(half);
    send(half);
    Await.until(() -> gateway.places.atWork() >= 2);
    Reply busy = gateway.get("bob", "/v1/runs");
    assertThat(busy.status()).isEqualTo(429);
    assertThat(busy.string("code")).isEqualTo("GWY-035");
    assertThat(gateway.get("alice", "/v1/runs").status()).isEqualTo(200);
    assertThat(gateway.get("eve", "/v1/runs").status()).isEqualTo(200);
  }

  @Test
  void streamsAreCountedAsLongAsTheyStand() throws Exception {
    start(64 << 20);
    for (String name : List.of("alice", "bob", "eve")) {
      gateway.submit(gateway.home.ask(name).run("run-of-" + name).sign());
    }
    String deputys = stream("deputy");
    Socket first = send(deputys);
    assertThat(head(first)).startsWith("HTTP/1.1 200");
    assertThat(head(send(deputys))).startsWith("HTTP/1.1 200");
    Socket third = send(deputys);
    assertThat(head(third)).startsWith("HTTP/1.1 429").contains("Retry-After: 1");
    assertThat(gateway.get("deputy", "/v1/runs").status()).as("its other calls").isEqualTo(200);
    assertThat(head(send(stream("alice")))).startsWith("HTTP/1.1 200");
    assertThat(head(send(stream("alice")))).startsWith("HTTP/1.1 200");
    assertThat(head(send(stream("bob")))).as("the tenant has no more").contains("429");
    assertThat(gateway.get("bob", "/v1/runs").status()).isEqualTo(200);
    assertThat(head(send(stream("eve")))).as("another tenant").startsWith("HTTP/1.1 200");
    assertThat(gateway.places.streams()).isEqualTo(5);
    first.close();
    Await.until(() -> gateway.places.streams() <= 4);
    assertThat(head(send(deputys))).startsWith("HTTP/1.1 200");
  }

  private static String stream(String name) {
    String run = name.equals("deputy") ? "run-of-alice" : "run-of-" + name;
    return "GET /v1/runs/"
        + run
        + "/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        + bearer(name)
        + "\r\n";
  }

  @Test
  void bodiesTakeMemoryOfTheirCredentialAndTenant() throws Exception {
    start(8 << 20);
    Socket half =
        send(
            POST.formatted("/echo")
                + bearer("bob")
                + "Content-Length: 2600000\r\n\r\n"
                + "x".repeat(2_400_000));
    Await.until(() -> gateway.places.memoryUsed() >= 2_400_000);
    String same =
        gateway.raw(
            POST.formatted("/echo")
                + bearer("bob")
                + "Content-Length: 900000\r\n\r\n"
                + "x".repeat(900_000));
    assertThat(same).startsWith("HTTP/1.1 503").contains("GWY-038").contains("Retry-After");
    assertThat(
            gateway
                .send(
                    gateway
                        .as("eve", "/echo")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[400_000])))
                .status())
        .isEqualTo(200);
    half.close();
    nothingIsHeld();
  }

  @Test
  void aBodyThatIsSmallOnTheWireAndLargeWhenReadIsRefused() {
    start(64 << 20);
    String bomb = "{\"decision\":[" + "[],".repeat(500_000) + "[]]}";
    String answer =
        gateway.raw(
            POST.formatted("/v1/executions")
                + "Content-Length: "
                + bomb.length()
                + "\r\n\r\n"
                + bomb
                + "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(answer).startsWith("HTTP/1.1 413").contains("GWY-047");
    nothingIsHeld();
  }

  @Test
  void aBodyInTinyPiecesAndAHeadOfTinyFieldsAreRefused() {
    start(64 << 20);
    assertThat(
            gateway.raw(
                POST.formatted("/v1/executions")
                    + "Transfer-Encoding: chunked\r\n\r\n"
                    + "1\r\n[\r\n".repeat(5_000)))
        .startsWith("HTTP/1.1 400")
        .contains("GWY-046");
    String last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    assertThat(gateway.raw(last + "x:\r\n".repeat(200) + "\r\n"))
        .startsWith("HTTP/1.1 431")
        .contains("GWY-016");
  }

  @Test
  void idleConnectionsOfAKnownClientKeepNobodyOut() throws Exception {
    start(64 << 20, 16, HttpLimits.DEFAULT.writeWithin());
    String bobs = get("bob");
    Socket bob = send(bobs);
    assertThat(head(bob)).startsWith("HTTP/1.1 200");
    for (int i = 0; i < 15; i++) {
      assertThat(head(send(get("alice")))).startsWith("HTTP/1.1 200");
    }
    for (int i = 0; i < 8; i++) {
      assertThat(head(send(get("eve")))).as("another tenant").startsWith("HTTP/1.1 200");
    }
    assertThat(gateway.server.connections().evicted()).isEqualTo(8);
    bob.getOutputStream().write(bobs.getBytes(StandardCharsets.US_ASCII));
    assertThat(head(bob)).as("who has few keeps them").contains("HTTP/1.1 200");
  }

  @Test
  void strangersWhoDoNotReadKeepNobodyOut() throws Exception {
    start(64 << 20, 16, Duration.ofHours(1)); // so that none is closed for its slowness
    int length = gateway.get("alice", DOCUMENT).text().length();
    assertThat(length).as("more than is sent in one piece").isGreaterThan(1 << 16);
    String many = ("GET " + DOCUMENT + " HTTP/1.1\r\nHost: localhost\r\n\r\n").repeat(200);
    for (int i = 0; i < 15; i++) { // beside the connection of the client above
      InputStream answers = send(many).getInputStream();
      Await.until(() -> answers.available() > 0);
    }
    for (int i = 0; i < 4; i++) {
      assertThat(head(send(get("eve")))).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void manyRequestsThatAreSentAheadAreAllAnswered() throws Exception {
    start(64 << 20);
    String one = "GET " + DOCUMENT + " HTTP/1.1\r\nHost: localhost\r\n";
    String answers = gateway.raw((one + "\r\n").repeat(199) + one + "Connection: close\r\n\r\n");
    assertThat(answers.split("HTTP/1.1 200 OK", -1)).hasSize(201);
  }

  private static String get(String name) {
    return "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n" + bearer(name) + "\r\n";
  }

  @Test
  void unfinishedHeadsOfAKnownClientKeepNobodyOut() throws Exception {
    start(4 << 20); // of which unfinished heads may take 64 KiB
    String whole = get("alice");
    String half = "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX: " + "a".repeat(12_000);
    List<Socket> hostile = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Socket known = send(whole);
      assertThat(head(known)).startsWith("HTTP/1.1 200");
      hostile.add(known);
    }
    for (Socket known : hostile) {
      known.getOutputStream().write(half.getBytes(StandardCharsets.US_ASCII));
      assertThat(head(send(whole))).as("somebody who comes anew").startsWith("HTTP/1.1 200");
    }
    Await.until(() -> gateway.server.connections().evicted() >= 3);
  }

  @Test
  void whatTheServerCannotReadIsAnsweredBeforeTheConnectionEnds() {
    start(64 << 20);
    for (String version :
        List.of("HTTP/9.9", "HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "http/1.1", "Http/1.0")) {
      assertThat(gateway.raw("GET /v1/runs " + version + "\r\nHost: localhost\r\n\r\n"))
          .as(version)
          .startsWith("HTTP/1.1 505")
          .contains("GWY-044");
    }
    for (String chunks : List.of("zz\r\nx\r\n", "-1\r\n\r\n", "fffffffffffff1\r\nx")) {
      assertThat(
              gateway.raw(
                  POST.formatted("/echo")
                      + bearer("alice")
                      + "Transfer-Encoding: chunked\r\n\r\n"
                      + chunks))
          .as(chunks)
          .startsWith("HTTP/1.1 400")
          .contains("GWY-010");
    }
  }

  @Test
  void theRefusalOfALaterRequestIsNotTheAnswerToAnEarlierOne() throws Exception {
    start(64 << 20);
    String post = POST.formatted("/echo") + bearer("alice");
    Socket socket = send(post + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assertThat(head(socket)).startsWith("HTTP/1.1 100");
    String both = "ab" + post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n";
    socket.getOutputStream().write(both.getBytes(StandardCharsets.US_ASCII));
    assertThat(head(socket)).isEqualTo("(closed)");
  }
}
