package dev.writ.gateway.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JavaScript client in a headless Chromium, in a page of another origin than the server's. */
class ABrowsersPageIsAnAgentTest {
  private static final String PAGE =
      """
      <!doctype html><script type="module">
      import { WritClient, signingKey } from '/writ.mjs';
      const say = text => fetch('/said', { method: 'POST', body: text });
      try {
        const client = new WritClient({
          url: 'URL', origin: 'ORIGIN', tenant: 'acme', subject: 'alice',
          key: await signingKey(await (await fetch('/key')).text()),
          keys: (await (await fetch('/trust')).json()).keys,
        });
        const outcome = await client.submit(await client.request('page', {
          tool: 'calc', version: '1.0.0', operation: 'do', sandbox: 'box', params: { n: 7 },
          resources: { cpu_ms: 1000, memory_bytes: 67108864, output_bytes: 1048576, wall_ms: 2000 },
        }));
        const runs = await client.get('/v1/runs');
        await say([outcome.verdict, outcome.receipt.status,
          new TextDecoder().decode(outcome.output), JSON.stringify(runs)].join(' '));
      } catch (e) {
        await say('failed: ' + e);
      }
      </script>
      """;

  @TempDir Path dir;
  private final BlockingQueue<String> said = new ArrayBlockingQueue<>(10);
  private HttpServer pages;
  private WholeGateway server;
  private Process browser;

  @BeforeEach
  void start() throws IOException {
    pages = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    pages.start();
  }

  @AfterEach
  void stop() throws Exception {
    if (browser != null) {
      browser.descendants().forEach(ProcessHandle::destroyForcibly);
      browser.destroyForcibly().waitFor();
    }
    pages.stop(0);
    server.close();
  }

  private String origin() {
    return "http://127.0.0.1:" + pages.getAddress().getPort();
  }

  private void serve(String allowed) throws Exception {
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    server =
        new WholeGateway(
            home, "writ_gateway: 1\nlisten: { port: 0 }\norigins: [" + allowed + "]\n", dir);
    Path key = dir.resolve("alice.pem");
    KeyFiles.write(key, TestKeys.key("alice"), null, new SecureRandom());
    page("/", "text/html", page());
    page("/writ.mjs", "text/javascript", Files.readAllBytes(client()));
    byte[] pem = Files.readAllBytes(key);
    pages.createContext(
        "/key",
        exchange -> {
          home.clock.set(Instant.now().plusSeconds(20)); // the page signs by the machine's time
          answer(exchange, "text/plain", pem);
        });
    page("/trust", "application/json", Jcs.write(home.kernel().system().trust().toJson()));
    pages.createContext(
        "/said",
        exchange -> {
          said.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          answer(exchange, "text/plain", new byte[0]);
        });
  }

  private byte[] page() {
    return PAGE.replace("URL", server.gateway.url())
        .replace("ORIGIN", TestHome.ORIGIN)
        .getBytes(StandardCharsets.UTF_8);
  }

  private void page(String path, String type, byte[] content) {
    pages.createContext(path, exchange -> answer(exchange, type, content));
  }

  private static void answer(HttpExchange exchange, String type, byte[] content)
      throws IOException {
    exchange.getResponseHeaders().add("Content-Type", type);
    exchange.sendResponseHeaders(200, content.length == 0 ? -1 : content.length);
    exchange.getResponseBody().write(content);
    exchange.close();
  }

  private static Path client() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("clients/js/writ.mjs"))) {
      at = at.getParent();
    }
    return at.resolve("clients/js/writ.mjs");
  }

  private String openedInABrowser() throws Exception {
    browser =
        new ProcessBuilder(
                "chromium-headless-shell",
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--remote-debugging-port=0",
                "--user-data-dir=" + dir.resolve("profile"),
                origin() + "/")
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("browser.log").toFile())
            .start();
    String result = said.poll(120, TimeUnit.SECONDS);
    assertThat(result).as(Files.readString(dir.resolve("browser.log"))).isNotNull();
    return result;
  }

  @Test
  void onAnOriginThatIsNamedItSignsSubmitsAndVerifies() throws Exception {
    serve("\"" + origin() + "\"");
    assertThat(openedInABrowser())
        .startsWith("ALLOW succeeded ")
        .contains("\"n\":7")
        .contains("\"run\":\"page\"");
    assertThat(server.home.driver.runs()).hasSize(1);
  }

  @Test
  void onAnyOtherOriginTheBrowserAsksAndDoesNothing() throws Exception {
    serve("\"https://console.example\"");
    assertThat(openedInABrowser()).startsWith("failed: ");
    assertThat(server.home.driver.runs()).isEmpty();
  }

  @Test
  void whatAPageMayDoIsSaidExactlyToTheOriginsThatAreNamed() throws Exception {
    serve("\"https://console.example\"");
    var allowed = preflight("https://console.example");
    assertThat(allowed.statusCode()).isEqualTo(204);
    assertThat(header(allowed, "Access-Control-Allow-Origin")).isEqualTo("https://console.example");
    assertThat(header(allowed, "Access-Control-Allow-Headers")).contains("Authorization");
    assertThat(header(allowed, "Access-Control-Allow-Credentials")).isEmpty();
    assertThat(header(allowed, "Vary")).isEqualTo("Origin");
    for (String other :
        List.of(
            "https://console.example.evil",
            "https://console.example:444",
            "null",
            "http://console.example")) {
      var refused = preflight(other);
      assertThat(refused.statusCode()).as(other).isEqualTo(405);
      assertThat(refused.headers().map().keySet())
          .as(other)
          .noneMatch(name -> name.startsWith("access-control"));
    }
    var read = server.send(server.to("/v1/runs").header("Origin", "https://console.example").GET());
    assertThat(read.statusCode()).isEqualTo(401); // an origin is no credential
    assertThat(header(read, "Access-Control-Allow-Origin")).isEqualTo("https://console.example");
  }

  private HttpResponse<String> preflight(String origin) throws Exception {
    return server.send(
        server
            .to("/v1/effects")
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "POST")
            .method("OPTIONS", HttpRequest.BodyPublishers.noBody()));
  }

  private static String header(HttpResponse<String> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }
}
