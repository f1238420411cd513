package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.TestEngines;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TheOnlyWayOutIsTheProxyTest {
  private static HttpServer origin;
  private static int port;
  private static TestEngines engines;

  @BeforeAll
  static void open() throws IOException {
    origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    origin.createContext(
        "/",
        exchange -> {
          String host = exchange.getRequestHeaders().getFirst("Host");
          String secret = exchange.getRequestHeaders().getFirst("Proxy-Authorization");
          byte[] body =
              ("hello from " + host + " " + exchange.getRequestURI() + " " + secret + "\n")
                  .getBytes(StandardCharsets.US_ASCII);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    origin.start();
    port = origin.getAddress().getPort();
    Resolver resolver =
        name ->
            switch (name) {
              case "allowed.test", "sub.wild.test", "rebound.test", "internal.test" ->
                  List.of(InetAddress.getByName("127.0.0.1"));
              case "metadata.test" -> List.of(InetAddress.getByName("169.254.169.254"));
              case "mixed.test" ->
                  List.of(
                      InetAddress.getByName("93.184.216.34"), InetAddress.getByName("10.0.0.1"));
              default -> {
                if (name.matches("[0-9.]+")) {
                  yield List.of(InetAddress.getByName(name));
                }
                throw new UnknownHostException(name);
              }
            };
    engines = TestEngines.withContainers(resolver);
  }

  @AfterAll
  static void close() {
    engines.close();
    origin.stop(0);
  }

  static List<String> engines() {
    return TestEngines.allNames();
  }

  /** What a program may reach here; all else it may not. */
  private static List<EgressRule> rules() {
    return List.of(
        new EgressRule("allowed.test", port, true),
        new EgressRule("*.wild.test", port, true),
        EgressRule.of("rebound.test", port),
        EgressRule.of("metadata.test", 80),
        EgressRule.of("mixed.test", 80),
        EgressRule.of("169.254.169.254", 80),
        new EgressRule("gone.test", 80, true),
        new EgressRule("allowed.test", 1, true));
  }

  private static Ended python(String engine, String program, List<EgressRule> rules) {
    try (Sandbox sandbox =
        engines
            .named(engine)
            .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
      return sandbox.exec(
          Command.of("/usr/bin/python3", "-c", PRELUDE.replace("PORT", "" + port) + program)
              .withEgress(rules));
    }
  }

  private static final String PRELUDE =
      """
      import socket, urllib.request, os
      port = PORT
      def get(url):
          try:
              return urllib.request.urlopen(url, timeout=20).read().decode()
          except urllib.error.HTTPError as e:
              return "%d %s" % (e.code, e.read().decode())
          except Exception as e:
              return type(e).__name__
      def raw(text):
          s = socket.create_connection(("127.0.0.1", 3128), 20)
          s.sendall(text.encode("latin-1"))
          data = b""
          while True:
              more = s.recv(65536)
              if not more:
                  return data.decode("latin-1")
              data += more
      """;

  private static String text(Ended ended) {
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8)
        + new String(ended.stderr().bytes(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatIsListedIsReachedAndCounted(String engine) {
    Ended ended =
        python(
            engine,
            """
            print(get("http://allowed.test:%d/a?b=c" % port), end="")
            print(get("http://sub.wild.test:%d/" % port), end="")
            print(raw("CONNECT allowed.test:%d HTTP/1.1\\r\\n\\r\\nGET /t HTTP/1.0\\r\\n\\r\\n" % port).split("\\r\\n")[0])
            print(raw("GET http://allowed.test:%d/x HTTP/1.1\\r\\nHost: other.test\\r\\nProxy-Authorization: s\\r\\n\\r\\n" % port).split("\\n")[-2])
            """,
            rules());
    assertThat(text(ended))
        .isEqualTo(
            "hello from allowed.test:"
                + port
                + " /a?b=c null\n"
                + "hello from sub.wild.test:"
                + port
                + " / null\n"
                + "HTTP/1.1 200 Connection established\n"
                + "hello from allowed.test:"
                + port
                + " /x null\n");
    assertThat(ended.reason()).isEqualTo(EndReason.EXITED);
    assertThat(ended.reached()).isEmpty();
    assertThat(ended.egress()).hasSize(8);
    EgressEvent.Connection first =
        ended.egress().stream()
            .filter(EgressEvent.Connection.class::isInstance)
            .map(EgressEvent.Connection.class::cast)
            .findFirst()
            .orElseThrow();
    assertThat(first.host()).isEqualTo("allowed.test");
    assertThat(first.address()).isEqualTo("127.0.0.1");
    assertThat(first.verdict()).isEqualTo("connected");
    assertThat(first.sent()).isPositive();
    assertThat(first.received()).isGreaterThan(40);
    assertThat(ended.egress())
        .contains(new EgressEvent.Lookup("allowed.test", List.of("127.0.0.1")));
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatIsNotListedIsRefusedAndSaid(String engine) {
    Ended ended =
        python(
            engine,
            """
            urls = ["http://other.test:%d/" % port, "http://allowed.test:80/", "http://wild.test:%d/" % port,
                    "http://127.0.0.1:%d/" % port, "http://localhost:%d/" % port, "http://[::1]:%d/" % port,
                    "http://rebound.test:%d/" % port, "http://metadata.test/", "http://mixed.test/",
                    "http://169.254.169.254/latest/meta-data/", "http://0x7f000001:%d/" % port,
                    "http://2130706433:%d/" % port, "http://allowed.test.:%d@other.test/" % port,
                    "http://evilallowed.test:%d/" % port, "http://allowed.test.evil.test:%d/" % port]
            for url in urls:
                print(get(url)[:4])
            for text in ("CONNECT other.test:443 HTTP/1.1\\r\\n\\r\\n", "CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n\\r\\n" % port,
                         "CONNECT allowed.test HTTP/1.1\\r\\n\\r\\n", "GET / HTTP/1.1\\r\\n\\r\\n", "\\r\\n\\r\\n",
                         "GET https://allowed.test/ HTTP/1.1\\r\\n\\r\\n", "GET ftp://allowed.test/ HTTP/1.1\\r\\n\\r\\n",
                         "CONNECT allowed.test:%d:80 HTTP/1.1\\r\\n\\r\\n" % port, "x" * 20000,
                         "GET http://allowed.test:%d/ HTTP/1.1\\r\\nA : b\\r\\n\\r\\n" % port,
                         "GET http://allowed.test:99999/ HTTP/1.1\\r\\n\\r\\n"):
                print(raw(text)[9:12])
            import sys
            sys.exit(1)
            """,
            rules());
    List<String> lines = text(ended).lines().toList();
    assertThat(lines).as(text(ended)).hasSize(26);
    assertThat(lines.subList(0, 12)).containsOnly("403 ");
    assertThat(lines.subList(13, 15)).containsOnly("403 ");
    assertThat(lines.get(12)).isNotEqualTo("hell");
    assertThat(lines.subList(15, 26)).containsOnly("403", "400");
    assertThat(ended.reason()).isEqualTo(EndReason.EGRESS_DENIED);
    assertThat(ended.egress().stream().filter(EgressEvent::denied).count())
        .isGreaterThanOrEqualTo(25);
    assertThat(ended.egress())
        .noneMatch(e -> e instanceof EgressEvent.Connection c && c.verdict().equals("connected"));
  }

  @ParameterizedTest
  @MethodSource("engines")
  void thereIsNoWayAroundIt(String engine) {
    Ended ended =
        python(
            engine,
            """
            import glob
            for host, number in (("127.0.0.1", port), ("1.1.1.1", 443), ("169.254.169.254", 80), ("::1", port)):
                try:
                    socket.create_connection((host, number), 2)
                    print("ESCAPED", host)
                except OSError:
                    pass
            try:
                socket.getaddrinfo("allowed.test", 80)
                print("ESCAPED: a name")
            except OSError:
                pass
            for pid in os.listdir("/proc"):
                if pid.isdigit() and open("/proc/%s/comm" % pid).read().strip() == "socat":
                    print("ESCAPED: the forwarder is visible")
            for path in glob.glob("/run/*") + glob.glob("/tmp/*"):
                if "init" not in path:
                    print("ESCAPED", path)
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            try:
                s.bind(("127.0.0.1", 3128)); s.listen()
                print("ESCAPED: took its port")
            except OSError:
                pass
            names = sorted(l.split(":")[0].strip() for l in open("/proc/net/dev").read().splitlines()[2:])
            print(names == ["lo"] or [n for n in names if not n.startswith(("lo", "sit", "tunl", "ip6tnl", "gre", "erspan", "ip6gre", "ip_vti", "ip6_vti", "teql"))])
            print(get("http://allowed.test:1/")[:3], get("http://gone.test/")[:3])
            """,
            rules());
    assertThat(text(ended)).isIn("True\n502 502\n", "[]\n502 502\n");
  }

  @ParameterizedTest
  @MethodSource("engines")
  void withoutRulesThereIsNoNetworkAtAll(String engine) {
    Ended ended =
        python(
            engine,
            "print('http_proxy' in os.environ, get('http://allowed.test:%d/' % port))\n"
                + "try:\n"
                + "    socket.create_connection(('127.0.0.1', 3128), 2); print('ESCAPED')\n"
                + "except OSError:\n"
                + "    print('refused')\n",
            List.of());
    assertThat(text(ended)).isEqualTo("False URLError\nrefused\n");
    assertThat(ended.egress()).isEmpty();
  }
}
