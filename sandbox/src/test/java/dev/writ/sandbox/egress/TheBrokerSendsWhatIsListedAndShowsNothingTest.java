package dev.writ.sandbox.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.testing.TestTls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The proxy on its socket, before a server that writes down every byte it gets. */
class TheBrokerSendsWhatIsListedAndShowsNothingTest {
  private static final String TOKEN = "s3cr3t-t0ken-of-the-host";
  private static final String BASIC =
      Base64.getEncoder().encodeToString(("robot:" + TOKEN).getBytes(StandardCharsets.UTF_8));
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes";

  private static TestTls tls;

  @TempDir private Path directory;
  private Origin origin;
  private EgressProxy proxy;
  private int proxies;

  /** Answers each connection with the same bytes, and keeps what it was sent. */
  private static final class Origin implements AutoCloseable {
    private final java.net.ServerSocket server;
    private final LinkedBlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private volatile String answer = OK;

    Origin(ServerSocketFactory factory) throws IOException {
      server = factory.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
      Thread.ofVirtual().start(this::accept);
    }

    private void accept() {
      while (true) {
        try {
          java.net.Socket socket = server.accept();
          Thread.ofVirtual().start(() -> serve(socket));
        } catch (IOException e) {
          return;
        }
      }
    }

    private void serve(java.net.Socket socket) {
      StringBuilder got = new StringBuilder();
      try (socket) {
        InputStream in = socket.getInputStream();
        until(in, got, "\r\n\r\n", Integer.MAX_VALUE);
        String head = got.toString();
        int length = head.indexOf("Content-Length: ");
        if (head.contains("Transfer-Encoding: chunked")) {
          until(in, got, "0\r\n\r\n", Integer.MAX_VALUE);
        } else if (length >= 0) {
          until(in, got, "never", Integer.parseInt(head.substring(length + 16).split("\r", 2)[0]));
        }
        socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        socket.shutdownOutput();
        // What comes after a whole request would have been smuggled.
        for (int b = in.read(); b >= 0; b = in.read()) {
          got.append((char) b);
        }
      } catch (IOException e) {
        // kept as far as it came
      }
      if (!got.isEmpty()) {
        requests.add(got.toString());
      }
    }

    private static void until(InputStream in, StringBuilder got, String end, int most)
        throws IOException {
      for (int n = 0; n < most; n++) {
        int b = in.read();
        if (b < 0) {
          return;
        }
        got.append((char) b);
        if (got.length() >= end.length() && got.indexOf(end, got.length() - end.length()) >= 0) {
          return;
        }
      }
    }

    String next() throws InterruptedException {
      return requests.poll(20, TimeUnit.SECONDS);
    }

    int port() {
      return server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  @BeforeAll
  static void keys() {
    tls = TestTls.forNames("git.test");
  }

  @BeforeEach
  void open() throws IOException {
    origin = new Origin(tls.server().getServerSocketFactory());
    proxy = proxy(Optional.of(Broker.Credential.basic("robot", TOKEN)));
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
    origin.close();
  }

  private EgressProxy proxy(Optional<Broker.Credential> credential) {
    Broker broker =
        new Broker(
            credential,
            List.of(
                new Broker.Request("GET", "/r.git/info/refs?service=git-upload-pack"),
                new Broker.Request("POST", "/r.git/git-upload-pack")));
    List<EgressRule> rules =
        List.of(
            new EgressRule("git.test", origin.port(), true).by(broker),
            new EgressRule("*.test", origin.port(), true));
    return open(rules, OriginTls.trusting(tls.authority()));
  }

  private EgressProxy open(List<EgressRule> rules, SSLContext trust) {
    return EgressProxy.open(
        directory.resolve("p" + ++proxies),
        rules,
        name -> List.of(InetAddress.getByName("127.0.0.1")),
        () -> trust);
  }

  private String send(String request) throws IOException {
    return send(proxies, request);
  }

  private String send(int number, String request) throws IOException {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(directory.resolve("p" + number)));
      var out = Channels.newOutputStream(channel);
      byte[] bytes =
          request.replace("PORT", "" + origin.port()).getBytes(StandardCharsets.ISO_8859_1);
      try {
        out.write(bytes);
      } catch (IOException e) {
        // It answered before it had all.
      }
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      byte[] piece = new byte[4096];
      InputStream in = Channels.newInputStream(channel);
      try {
        for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
          all.write(piece, 0, n);
        }
      } catch (IOException e) {
        // reset after the answer
      }
      return all.toString(StandardCharsets.ISO_8859_1);
    }
  }

  private static final String REFS =
      "GET http://git.test:PORT/r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n";

  private EgressEvent.Connection last() {
    proxy.close(); // afterwards the events are all there
    return (EgressEvent.Connection) proxy.events().getLast();
  }

  private String log() {
    proxy.close();
    StringBuilder all = new StringBuilder();
    proxy
        .events()
        .forEach(
            e -> all.append(new String(Jcs.write(e.toJson()), StandardCharsets.UTF_8)).append(e));
    return all.toString();
  }

  @Test
  void aListedRequestGoesOnWithTheCredentialAndWithoutWhatAsksForMore() throws Exception {
    String answer =
        send(
            REFS
                + "Host: other.test\r\nUser-Agent: git/2\r\nAccept-Encoding: gzip\r\n"
                + "Git-Protocol: version=2\r\nX-HTTP-Method-Override: DELETE\r\n"
                + "Connection: keep-alive, Git-Protocol\r\nForwarded: for=1.2.3.4\r\n\r\n");
    assertThat(answer)
        .isEqualTo("HTTP/1.1 200 \r\nContent-Length: 3\r\nConnection: close\r\n\r\nyes");
    assertThat(origin.next())
        .isEqualTo(
            ("GET /r.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: git.test:PORT\r\n"
                    + "Authorization: Basic "
                    + BASIC
                    + "\r\nuser-agent: git/2\r\ngit-protocol: version=2\r\n"
                    + "Connection: close\r\n\r\n")
                .replace("PORT", "" + origin.port()));
    EgressEvent.Connection event = last();
    assertThat(event.http()).contains(new EgressEvent.Http("GET", "/r.git/info/refs", 200, true));
    assertThat(event.verdict()).isEqualTo("connected");
    assertThat(log()).doesNotContain(TOKEN).doesNotContain(BASIC).doesNotContain("service=");
  }

  @Test
  void withoutACredentialTheRequestsAreBoundAllTheSame() throws Exception {
    proxy.close();
    proxy = proxy(Optional.empty());
    assertThat(send(REFS + "\r\n")).endsWith("yes");
    assertThat(origin.next()).doesNotContain("uthorization");
    assertThat(send("GET http://git.test:PORT/other HTTP/1.1\r\n\r\n")).contains(" 403 ");
    assertThat(origin.requests).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // other requests than those listed
        "GET http://git.test:PORT/r.git/info/refs?service=git-receive-pack HTTP/1.1\r\n\r\n",
        "GET http://git.test:PORT/r.git/info/refs HTTP/1.1\r\n\r\n",
        "GET http://git.test:PORT/r.git/info/refs?service=git-upload-pack&x=1 HTTP/1.1\r\n\r\n",
        "GET http://git.test:PORT/other.git/../r.git/info/refs?service=git-upload-pack"
            + " HTTP/1.1\r\n\r\n",
        "GET http://git.test:PORT//r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n\r\n",
        "GET http://git.test:PORT/r%2Egit/info/refs?service=git-upload-pack HTTP/1.1\r\n\r\n",
        "DELETE http://git.test:PORT/r.git/git-upload-pack HTTP/1.1\r\n\r\n",
        "HEAD http://git.test:PORT/r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n\r\n",
        "POST http://git.test:PORT/r.git/git-receive-pack HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "GET http://git.test:PORT/api/v1/user HTTP/1.1\r\n\r\n",
        // past the broker, though a wildcard covers the place
        "CONNECT git.test:PORT HTTP/1.1\r\n\r\n",
        // credentials of its own
        "GET http://git.test:PORT/r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n"
            + "Authorization: Basic eA==\r\n\r\n",
        "GET http://git.test:PORT/r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n"
            + "Cookie: a=b\r\n\r\n",
        "GET http://git.test:PORT/r.git/info/refs?service=git-upload-pack HTTP/1.1\r\n"
            + "PROXY-Authorization: b\r\n\r\n",
      })
  void nothingElseIsSent(String request) throws Exception {
    assertThat(send(request)).startsWith("HTTP/1.1 403 ");
    assertThat(last().denied()).isTrue();
    assertThat(origin.requests).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding:\u000bchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 30\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 0, 0\r\n\r\n",
        "Content-Length: +3\r\n\r\nabc",
        "Content-Length: 0x3\r\n\r\nabc",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 9999999999999999\r\n\r\n",
        "A: b\nContent-Length: 3\r\n\r\nabc",
        "A: b\rX: y\r\n\r\n",
        "A: b\r\n folded\r\n\r\n",
        "A: b\u0000\r\n\r\n",
        "no colon\r\n\r\n",
        ": no name\r\n\r\n",
        " A: b\r\n\r\n",
      })
  void whatTwoReadersCouldReadInTwoWaysIsRefused(String rest) throws Exception {
    assertThat(send("POST http://git.test:PORT/r.git/git-upload-pack HTTP/1.1\r\n" + rest))
        .startsWith("HTTP/1.1 400 ");
    assertThat(last().reason()).startsWith("malformed");
    assertThat(origin.requests).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3;ext=1\r\nabc\r\n0\r\n\r\n",
        "3\r\nabcd\r\n0\r\n\r\n",
        " 3\r\nabc\r\n0\r\n\r\n",
        "3 \r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "0x3\r\nabc\r\n0\r\n\r\n",
        "-3\r\nabc\r\n0\r\n\r\n",
        "\r\nabc\r\n0\r\n\r\n",
        "fffffffffffffffff\r\nabc",
      })
  void brokenChunksEndTheRequestBeforeTheOriginSeesItsEnd(String content) throws Exception {
    String answer =
        send(
            "POST http://git.test:PORT/r.git/git-upload-pack HTTP/1.1\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
                + content);
    assertThat(answer).startsWith("HTTP/1.1 400 ");
    assertThat(last().reason()).startsWith("malformed");
    assertThat(origin.next()).doesNotEndWith("0\r\n\r\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"git.test", "open.test"})
  void whatFollowsARequestGoesNowhere(String host) throws Exception {
    if (host.equals("open.test")) {
      origin.close();
      origin = new Origin(ServerSocketFactory.getDefault());
      proxy.close();
      proxy = proxy(Optional.empty()); // there open.test is plain HTTP, without a broker
    }
    String smuggled = "GET /admin HTTP/1.1\r\nHost: git.test\r\n\r\n";
    String target = "POST http://" + host + ":PORT/r.git/git-upload-pack HTTP/1.1\r\n";
    send(target + "Content-Length: 3\r\n\r\nabc" + smuggled);
    assertThat(origin.next()).contains("Content-Length: 3\r\n").endsWith("\r\n\r\nabc");
    send(
        target
            + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"
            + smuggled);
    assertThat(origin.next())
        .contains("Transfer-Encoding: chunked\r\n")
        .endsWith("\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    send(target + "\r\n" + smuggled);
    assertThat(origin.next()).doesNotContain("admin").endsWith("Connection: close\r\n\r\n");
    send(target + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx");
    assertThat(origin.next()).doesNotContainIgnoringCase("expect").endsWith("\r\n\r\nx");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nX-Echo: TOKEN\r\nContent-Type: TOKEN\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: Basic BASE64\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 TOKEN\r\nContent-Length: 24\r\n\r\nTOKEN",
        "HTTP/1.1 500 no\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
            + "5\r\n"
            + "s3cr3\r\n"
            + "13\r\n"
            + "t-t0ken-of-the-host\r\n"
            + "0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nyou sent BASE64 to me",
        "HTTP/1.1 200 OK\r\n"
            + "Content-Length: 60\r\n\r\n"
            + "s3cr3t-t0ken-of-s3cr3t-t0ken-of-the-host and something more",
      })
  void anAnswerThatRepeatsTheCredentialIsBrokenOff(String answer) throws Exception {
    origin.answer = answer.replace("TOKEN", TOKEN).replace("BASE64", BASIC);
    String got = send(REFS + "\r\n");
    assertThat(got).doesNotContain(TOKEN).doesNotContain(BASIC);
    EgressEvent.Connection event = last();
    assertThat(event.verdict()).isEqualTo("failed");
    assertThat(event.reason()).isEqualTo("the answer repeats the credential");
  }

  @Test
  void aCredentialInAHeaderThatIsNotPassedOnIsJustNotPassedOn() throws Exception {
    origin.answer =
        "HTTP/1.1 302 Found\r\nLocation: https://evil.test/?"
            + TOKEN
            + "\r\nSet-Cookie: session=abc\r\nWWW-Authenticate: Basic realm=\"x\"\r\n"
            + "Alt-Svc: h2=\":1\"\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno";
    assertThat(send(REFS + "\r\n"))
        .isEqualTo(
            "HTTP/1.1 302 \r\ncontent-type: text/plain\r\nContent-Length: 2\r\n"
                + "Connection: close\r\n\r\nno");
    assertThat(origin.next()).contains("Authorization");
    assertThat(last().http().orElseThrow().status()).isEqualTo(302);
    assertThat(origin.requests).as("no redirect is followed").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/2 200 OK\r\n\r\n",
        "200 OK\r\n\r\n",
        "HTTP/1.1 099 X\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
        "",
      })
  void anAnswerThatIsMalformedIsNotPassedOn(String answer) throws Exception {
    origin.answer = answer;
    assertThat(send(REFS + "\r\n")).startsWith("HTTP/1.1 502 ");
    assertThat(last().verdict()).isEqualTo("failed");
  }

  @Test
  void anAnswerThatEndsEarlyIsSeenToEndEarly() throws Exception {
    origin.answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
    assertThat(send(REFS + "\r\n")).endsWith("2\r\nab\r\n");
    assertThat(last().reason()).isEqualTo("broken off");
  }

  @Test
  void answersComeInEveryFraming() throws Exception {
    origin.answer = "HTTP/1.0 200 OK\r\n\r\nuntil the end";
    assertThat(send(REFS + "\r\n")).endsWith("\r\n\r\nd\r\nuntil the end\r\n0\r\n\r\n");
    assertThat(send(REFS.replace("1.1\r\n", "1.0\r\n") + "\r\n"))
        .endsWith("Connection: close\r\n\r\nuntil the end");
    origin.answer =
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n"
            + "Transfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n00\r\nSet-Cookie: x\r\n\r\n";
    assertThat(send(REFS + "\r\n")).endsWith("close\r\n\r\n2\r\nab\r\n0\r\n\r\n");
    assertThat(send(REFS.replace("1.1\r\n", "1.0\r\n") + "\r\n")).endsWith("close\r\n\r\nab");
    origin.answer = "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\nignored";
    assertThat(send(REFS + "\r\n")).endsWith("HTTP/1.1 204 \r\nConnection: close\r\n\r\n");
  }

  @Test
  void nothingIsSentToAServerThatCannotBeVerified() throws Exception {
    TestTls other = TestTls.forNames("git.test");
    proxy.close();
    Broker broker =
        new Broker(
            Optional.of(Broker.Credential.bearer(TOKEN)), List.of(new Broker.Request("GET", "/")));
    String request = "GET http://git.test:PORT/ HTTP/1.1\r\n\r\n";
    List<EgressRule> rules =
        List.of(
            new EgressRule("git.test", origin.port(), true).by(broker),
            new EgressRule("name.test", origin.port(), true).by(broker),
            new EgressRule("public.test", origin.port(), false).by(broker),
            new EgressRule("public.test", origin.port(), true));
    List<SSLContext> trusts = List.of(OriginTls.trusting(other.authority()), OriginTls.ofTheJdk());
    for (SSLContext trust : trusts) {
      proxy = open(rules, trust);
      assertThat(send(request)).startsWith("HTTP/1.1 502 ");
      assertThat(last().reason()).isEqualTo("the server cannot be verified");
    }
    proxy = open(rules, OriginTls.trusting(tls.authority()));
    assertThat(send(request.replace("git.test", "name.test"))).startsWith("HTTP/1.1 502 ");
    assertThat(send(request.replace("git.test", "public.test"))).startsWith("HTTP/1.1 403 ");
    assertThat(send(request)).startsWith("HTTP/1.1 200 ");
    assertThat(origin.next()).contains("Authorization: Bearer " + TOKEN + "\r\n");
    assertThat(origin.requests).isEmpty();
  }

  @Test
  void whatIsSentInPiecesArrivesWhole() throws Exception {
    Random random = new Random(Long.getLong("writ.seed", 7));
    StringBuilder content = new StringBuilder();
    StringBuilder chunks = new StringBuilder();
    while (content.length() < 300_000) {
      int length = 1 + random.nextInt(40_000);
      String piece = String.valueOf((char) ('a' + random.nextInt(26))).repeat(length);
      content.append(piece);
      chunks.append(Integer.toHexString(length)).append("\r\n").append(piece).append("\r\n");
    }
    origin.answer = "HTTP/1.1 200 OK\r\nContent-Length: " + content.length() + "\r\n\r\n" + content;
    String answer =
        send(
            "POST http://git.test:PORT/r.git/git-upload-pack HTTP/1.1\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
                + chunks
                + "0\r\n\r\n");
    assertThat(answer.substring(answer.indexOf("\r\n\r\n") + 4)).isEqualTo(content.toString());
    String got = origin.next();
    StringBuilder joined = new StringBuilder();
    for (String line : got.substring(got.indexOf("\r\n\r\n") + 4).split("\r\n")) {
      if (line.matches("[a-z]{1000,}") || line.chars().anyMatch(c -> c > 'f')) {
        joined.append(line);
      }
    }
    assertThat(joined.length()).isGreaterThan(200_000);
    assertThat(last().sent()).isGreaterThan(content.length());
  }

  @Test
  void theGuardFindsAStringHoweverItIsCut() throws Exception {
    long seed = Long.getLong("writ.seed", 11);
    Random random = new Random(seed);
    for (int round = 0; round < 3_000; round++) {
      List<String> strings = new ArrayList<>();
      for (int s = 0; s <= random.nextInt(3); s++) {
        strings.add(letters(random, 1 + random.nextInt(5)));
      }
      String text = letters(random, random.nextInt(30));
      EchoGuard guard =
          new EchoGuard(strings.stream().map(s -> s.getBytes(StandardCharsets.US_ASCII)).toList());
      StringBuilder passed = new StringBuilder();
      boolean echoed = false;
      try {
        for (int at = 0; at < text.length(); ) {
          int end = Math.min(text.length(), at + random.nextInt(4));
          byte[] piece = text.substring(at, end).getBytes(StandardCharsets.US_ASCII);
          passed.append(new String(guard.pass(piece, piece.length), StandardCharsets.US_ASCII));
          at = end;
        }
        passed.append(new String(guard.rest(), StandardCharsets.US_ASCII));
      } catch (EchoGuard.Echoed e) {
        echoed = true;
      }
      String what = "seed " + seed + " round " + round + " " + strings + " in " + text;
      assertThat(echoed).as(what).isEqualTo(strings.stream().anyMatch(text::contains));
      assertThat(strings.stream().noneMatch(passed.toString()::contains)).as(what).isTrue();
      assertThat(text.startsWith(passed.toString())).as(what).isTrue();
      assertThat(echoed || passed.toString().equals(text)).as(what).isTrue();
    }
  }

  private static String letters(Random random, int length) {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < length; i++) {
      all.append(random.nextInt(3) == 0 ? 'b' : 'a');
    }
    return all.toString();
  }

  @Test
  void aBrokerThatIsMalformedIsNotMade() {
    assertThatThrownBy(() -> Broker.Credential.basic("u", "short77"))
        .hasMessageContaining("SBX-030");
    assertThatThrownBy(() -> Broker.Credential.basic("a:b", TOKEN)).hasMessageContaining("SBX-030");
    assertThatThrownBy(() -> Broker.Credential.basic("u", TOKEN + "\r\nX: y"))
        .hasMessageContaining("SBX-030")
        .hasMessageNotContaining(TOKEN);
    assertThatThrownBy(() -> Broker.Credential.bearer(TOKEN + " x"))
        .hasMessageContaining("SBX-030");
    assertThatThrownBy(() -> new Broker.Request("get", "/")).hasMessageContaining("SBX-030");
    assertThatThrownBy(() -> new Broker.Request("GET", "/a b")).hasMessageContaining("SBX-030");
    assertThatThrownBy(() -> new Broker.Request("CONNECT", "/")).hasMessageContaining("SBX-030");
    assertThatThrownBy(() -> new Broker(Optional.empty(), List.of()))
        .hasMessageContaining("SBX-030");
    Broker broker = new Broker(Optional.empty(), List.of(new Broker.Request("GET", "/")));
    assertThatThrownBy(() -> EgressRule.of("*.a.test", 443).by(broker))
        .hasMessageContaining("SBX-029");
    assertThatThrownBy(() -> OriginTls.trusting(new byte[0])).hasMessageContaining("SBX-031");
    assertThatThrownBy(() -> OriginTls.trusting("-----BEGIN CERTIFICATE-----\nx\n".getBytes()))
        .hasMessageContaining("SBX-031");
    SandboxSettings settings = SandboxSettings.in(directory);
    for (String bad : List.of("", "host", "host:", "host:x", ":1", "Host:1", "host:0", "a b:1")) {
      assertThatThrownBy(() -> settings.reaching(List.of(bad)))
          .as(bad)
          .hasMessageContaining("SBX-029");
    }
    assertThat(Broker.Credential.basic("robot", TOKEN).toString()).doesNotContain(TOKEN);
    assertThat(EgressRule.of("a.test", 443).by(broker).toString()).doesNotContain(TOKEN);
  }
}
