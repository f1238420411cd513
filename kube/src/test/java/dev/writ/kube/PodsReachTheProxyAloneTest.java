package dev.writ.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.kube.testing.FakeCluster;
import dev.writ.kube.testing.TestPods;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.egress.EgressRule;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The way out of a pod is the egress proxy, with the rules of its own command. */
@Timeout(300)
class PodsReachTheProxyAloneTest {
  private static TestPods pods;
  private static HttpServer origin;
  private static int proxy;

  @BeforeAll
  static void open() throws Exception {
    origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    origin.createContext(
        "/",
        exchange -> {
          byte[] body =
              ("it got " + exchange.getRequestHeaders().keySet()).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    origin.start();
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      proxy = free.getLocalPort();
    }
    pods = new TestPods();
    pods.cluster.more =
        settings -> settings.put("proxy", JsonValue.object().put("port", (long) proxy).build());
    pods.environment = Map.of("WRIT_POD_ADDRESS", "127.0.0.1");
  }

  @AfterAll
  static void close() {
    pods.close();
    origin.stop(0);
  }

  private static int port() {
    return origin.getAddress().getPort();
  }

  private static Command python(String program) {
    return Command.of("python3", "-c", program)
        .withEgress(List.of(new EgressRule("127.0.0.1", port(), true)));
  }

  private static String text(Ended ended) {
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
  }

  @Test
  void whatIsListedIsReachedWhatIsNotIsRefusedAndBothAreRecorded() {
    Ended ended =
        pods.run(
            python(
                """
                import os, socket, urllib.error, urllib.request
                print(urllib.request.urlopen('http://127.0.0.1:%d/a').read().decode())
                for url in 'http://127.0.0.1:1/', 'http://example.com/':
                    try: urllib.request.urlopen(url); print('ESCAPED')
                    except urllib.error.HTTPError as e: print(e.code, e.read().decode().strip())
                for place in ('127.0.0.1', %d), ('127.0.0.1', %d), ('1.1.1.1', 80):
                    try: socket.create_connection(place, 1); print('ESCAPED')
                    except OSError: print('closed')
                raise SystemExit(1)
                """
                    .formatted(port(), port(), pods.cluster.relay.port())));
    assertThat(text(ended))
        .as(new String(ended.stderr().bytes(), StandardCharsets.UTF_8))
        .startsWith("it got [")
        .doesNotContainIgnoringCase("proxy-authorization")
        .endsWith(
            """
            403 writ: egress: not listed
            403 writ: egress: not listed
            closed
            closed
            closed
            """);
    assertThat(ended.reason()).isEqualTo(EndReason.EGRESS_DENIED);
    assertThat(ended.egress()).filteredOn(EgressEvent::denied).hasSize(2);
    assertThat(ended.toJson().toString()).contains("connected", "not listed");
  }

  /** A credential is good for its own rules, from its own pod, while its command runs. */
  @Test
  void onePodCannotUseTheRulesOfAnother() throws Exception {
    CompletableFuture<String> told = new CompletableFuture<>();
    try (Sandbox first = pods.engine().create(pods.spec(FakeCluster.DEBIAN))) {
      Execution running =
          first.start(
              python(
                  "import os, time; print(os.environ['http_proxy'], flush=True); time.sleep(600)"),
              (stream, bytes) -> told.complete(new String(bytes, StandardCharsets.UTF_8).strip()));
      String stolen = told.get(60, TimeUnit.SECONDS);
      Ended thief =
          pods.run(
              Command.of(
                      "python3",
                      "-c",
                      """
                      import sys, urllib.error, urllib.request as r
                      for proxy in sys.argv[2:]:
                          opener = r.build_opener(r.ProxyHandler({'http': proxy}))
                          try: print('ESCAPED', opener.open(sys.argv[1]).read())
                          except urllib.error.HTTPError as e: print(e.code)
                      """,
                      "http://127.0.0.1:" + port() + "/",
                      stolen,
                      "http://command:" + "0".repeat(64) + "@127.0.0.1:" + proxy,
                      "http://127.0.0.1:" + proxy)
                  .withEgress(List.of(EgressRule.of("example.com", 443))));
      assertThat(text(thief)).isEqualTo("407\n407\n407\n");
      assertThat(thief.egress()).as("it used nothing of its own").isEmpty();
      running.cancel();
      assertThat(running.await().egress()).as("and nothing is said of the owner").isEmpty();
      String userInfo = stolen.substring("http://".length(), stolen.indexOf('@'));
      assertThat(asked(userInfo)).startsWith("HTTP/1.1 407 ").contains("Proxy-Authenticate: Basic");
    }
  }

  private static String asked(String userInfo) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy)) {
      String head =
          "GET http://127.0.0.1:"
              + port()
              + "/ HTTP/1.1\r\nHost: 127.0.0.1\r\nProxy-Authorization: Basic "
              + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.US_ASCII))
              + "\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      socket.shutdownOutput();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  /** Without rules there is no way, though others have one. */
  @Test
  void aCommandWithoutRulesReachesNothing() {
    assertThat(
            text(
                pods.run(
                    Command.of(
                        "python3",
                        "-c",
                        """
                        import os, socket
                        print('http_proxy' in os.environ)
                        try: socket.create_connection(('127.0.0.1', %d), 1); print('ESCAPED')
                        except OSError: print('closed')
                        """
                            .formatted(proxy)))))
        .isEqualTo("False\nclosed\n");
    assertThat(
            pods.cluster
                .client
                .network()
                .v1()
                .networkPolicies()
                .inNamespace(FakeCluster.NAMESPACE)
                .withName("writ-proxy")
                .get()
                .getSpec()
                .getEgress())
        .hasSize(1);
  }
}
