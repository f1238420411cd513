package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.TestGateway.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No 500, no stack trace, nothing of another tenant's, and the server goes on serving. */
class HostileHttpTest {
  private static final String SECRET = "the-secret-of-eve";

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir, TestGateway.limits(256, 256, 1024, 500), List.of());
    Reply secret =
        gateway.submit(gateway.home.ask("eve").params("{\"s\":\"" + SECRET + "\"}").sign());
    assertThat(secret.text()).contains(SECRET);
  }

  @AfterEach
  void stillServingAndNothingUnforeseen() {
    assertThat(gateway.failures).isEmpty();
    assertThat(List.copyOf(gateway.finished)).noneMatch(call -> call.status() == 500);
    gateway.forgetConnections();
    assertThat(gateway.submit(gateway.home.ask("alice").run("after").sign()).status())
        .isEqualTo(200);
    assertThat(gateway.server.drain(Duration.ofSeconds(30))).as("no place is lost").isTrue();
    gateway.close();
  }

  private void harmless(String answer) {
    assertThat(answer)
        .doesNotContain(" 500 ")
        .doesNotContain(SECRET)
        .doesNotContain("dev.writ.")
        .doesNotContain("Exception")
        .doesNotContain("\tat ");
  }

  private String post(String headers, String body) {
    return "POST /v1/effects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + headers
        + "\r\n"
        + body;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length : 5\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity, chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding:\u000bchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Host: b\r\n",
        "X: a\u0000b\r\n",
        "X: a\rb\r\n",
        "X\r\n",
        ": x\r\n",
      })
  void twoWaysToTellABodysLengthOrAnUnclearHeadEndTheConnection(String headers) {
    Envelope smuggled = gateway.home.ask("alice").params("{\"smuggled\":1}").sign();
    String inside =
        post(
            "Content-Length: " + smuggled.toBytes().length + "\r\n",
            new String(smuggled.toBytes(), StandardCharsets.UTF_8));
    String answer = gateway.raw(post(headers, "0\r\n\r\n" + inside));
    harmless(answer);
    assertThat(answer).doesNotContain("\"verdict\"").doesNotContain(" 200 ");
    assertThat(gateway.home.driver.runsWith(smuggled())).isZero();
  }

  private static JsonValue smuggled() {
    return Jcs.parse("{\"smuggled\":1}".getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zz\r\nx\r\n",
        "-1\r\n\r\n",
        "ffffffffffffffff1\r\nx",
        "5\r\nabc\r\n0\r\n\r\n",
        "5;x=\"\r\nabcde\r\n0\r\n\r\n",
        "5 \r\nabcdeXX0\r\n\r\n",
        "0\r\nTrailer: x\u0000\r\n\r\n",
        "\r\n\r\n",
        "1",
      })
  void brokenChunksAreRefusedOrTimeOut(String chunks) {
    String answer = gateway.raw(post("Transfer-Encoding: chunked\r\n", chunks));
    harmless(answer);
    assertThat(answer).doesNotContain(" 200 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "get /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET  /v1/runs  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://other/v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET //v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/../v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/%2e%2e/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/runs/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/runs/%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/runs?a=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/runs HTTP/1.1\r\n\r\n",
        "GET /v1/runs HTTP/1.1\r\n"
            + "Host: localhost\r\n"
            + "Upgrade: h2c\r\n"
            + "Connection: Upgrade, HTTP2-Settings\r\n"
            + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
        "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001",
        "\r\n\r\n\r\n\r\n",
      })
  void oddRequestLinesAreAnsweredOrDropped(String request) {
    String answer = gateway.raw(request);
    harmless(answer);
    assertThat(answer).doesNotContain(" 200 ").doesNotContain(" 101 ");
  }

  @Test
  void pipelinedRequestsAreAnsweredInTheirOrder() {
    StringBuilder all = new StringBuilder();
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Envelope request = gateway.home.ask("alice").params("{\"i\":" + i + "}").sign();
      ids.add(request.id().toString());
      all.append(
          post(
              "Content-Length: "
                  + request.toBytes().length
                  + "\r\n"
                  + (i == 4 ? "Connection: close\r\n" : ""),
              new String(request.toBytes(), StandardCharsets.UTF_8)));
    }
    String answers = gateway.raw(all.toString());
    List<String> found =
        Pattern.compile("\"request_id\":\"(sha256:[0-9a-f]{64})\"")
            .matcher(answers)
            .results()
            .map(m -> m.group(1))
            .toList();
    assertThat(found).isEqualTo(ids);
  }

  @Test
  void manyWhoSendTheirHeadsByteByByteDoNotKeepOthersOut() throws Exception {
    List<java.net.Socket> slow = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      java.net.Socket socket = new java.net.Socket("127.0.0.1", gateway.server.port());
      socket
          .getOutputStream()
          .write("GET /v1/runs HTTP/1.1\r\nHo".getBytes(StandardCharsets.US_ASCII));
      slow.add(socket);
    }
    assertThat(gateway.get("alice", "/v1/runs").status()).isEqualTo(200);
    for (java.net.Socket socket : slow) {
      socket.setSoTimeout(20_000);
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
      socket.close();
    }
  }

  /** The whole of issue 6 is {@code -Dwrit.mutations=10000}. */
  @Test
  void randomMutationsOfValidRequestsDoNoHarm() throws Exception {
    long seed = Long.getLong("writ.seed", 20261122L);
    int count = Integer.getInteger("writ.mutations", 1500);
    System.out.println("mutations: " + count + ", -Dwrit.seed=" + seed);
    List<byte[]> valid = valid();
    List<Future<String>> answers = new ArrayList<>();
    try (ExecutorService senders = Executors.newFixedThreadPool(32, Thread.ofVirtual().factory())) {
      for (int i = 0; i < count; i++) {
        RandomGenerator random = new SplittableRandom(seed + i);
        byte[] mutated = mutate(valid.get(random.nextInt(valid.size())), valid, random);
        answers.add(senders.submit(() -> gateway.raw(mutated)));
      }
      for (Future<String> answer : answers) {
        harmless(answer.get(60, TimeUnit.SECONDS));
      }
    }
    // Whatever ran was signed by its agent, and each of them at most once.
    assertThat(gateway.home.driver.runs().size()).isLessThanOrEqualTo(1 + 2);
  }

  /** Requests of alice's that would be served. */
  private List<byte[]> valid() {
    byte[] effect = gateway.home.ask("alice").sign().toBytes();
    byte[] chunked = gateway.home.ask("alice").params("{\"n\":2}").sign().toBytes();
    String auth = "Authorization: Bearer " + TestGateway.tokenOf("alice") + "\r\n";
    String close = "Connection: close\r\n";
    List<String> requests =
        List.of(
            post(
                close + "Content-Length: " + effect.length + "\r\n",
                new String(effect, StandardCharsets.UTF_8)),
            post(
                close + "Transfer-Encoding: chunked\r\n",
                Integer.toHexString(chunked.length)
                    + "\r\n"
                    + new String(chunked, StandardCharsets.UTF_8)
                    + "\r\n0\r\n\r\n"),
            "GET /v1/runs/run-1/events?from=0 HTTP/1.1\r\nHost: localhost\r\n"
                + auth
                + close
                + "\r\n",
            "GET /v1/receipts/sha256:"
                + "0".repeat(64)
                + " HTTP/1.1\r\nHost: localhost\r\n"
                + auth
                + "Range: bytes=0-4\r\n"
                + close
                + "\r\n",
            "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
                + gateway.access("alice")
                + "\r\n"
                + close
                + "\r\n",
            "PUT /v1/blobs/"
                + Digest.sha256("abc".getBytes(StandardCharsets.UTF_8))
                + " HTTP/1.1\r\nHost: localhost\r\n"
                + auth
                + close
                + "Content-Length: 3\r\n\r\nabc");
    return requests.stream().map(r -> r.getBytes(StandardCharsets.ISO_8859_1)).toList();
  }

  private static byte[] mutate(byte[] request, List<byte[]> others, RandomGenerator random) {
    byte[] bytes = request.clone();
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes && bytes.length > 1; i++) {
      int at = random.nextInt(bytes.length);
      bytes =
          switch (random.nextInt(7)) {
            case 0 -> with(bytes, at, 1, new byte[] {(byte) random.nextInt(256)});
            case 1 -> with(bytes, at, 0, new byte[] {(byte) random.nextInt(256)});
            case 2 -> with(bytes, at, 1 + random.nextInt(8), new byte[0]);
            case 3 -> with(bytes, at, 0, "\r\n".getBytes(StandardCharsets.US_ASCII));
            case 4 -> with(bytes, at, 0, slice(bytes, random));
            case 5 -> with(bytes, at, 0, slice(others.get(random.nextInt(others.size())), random));
            default -> with(bytes, at, bytes.length - at, new byte[0]);
          };
    }
    return bytes;
  }

  private static byte[] slice(byte[] bytes, RandomGenerator random) {
    int from = random.nextInt(bytes.length);
    return Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + 1 + random.nextInt(64)));
  }

  private static byte[] with(byte[] bytes, int at, int remove, byte[] insert) {
    int end = Math.min(bytes.length, at + remove);
    byte[] result = new byte[at + insert.length + bytes.length - end];
    System.arraycopy(bytes, 0, result, 0, at);
    System.arraycopy(insert, 0, result, at, insert.length);
    System.arraycopy(bytes, end, result, at + insert.length, bytes.length - end);
    return result;
  }
}
