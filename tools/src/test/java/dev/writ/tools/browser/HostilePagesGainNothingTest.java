package dev.writ.tools.browser;

import static dev.writ.tools.browser.TestBrowser.console;
import static dev.writ.tools.browser.TestBrowser.egress;
import static dev.writ.tools.browser.TestBrowser.number;
import static dev.writ.tools.browser.TestBrowser.output;
import static dev.writ.tools.browser.TestBrowser.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages that try to get out, to learn about the host, or to take without end. */
class HostilePagesGainNothingTest {
  private static TestBrowser browser;

  @BeforeAll
  static void open() {
    browser = TestBrowser.open(Optional.empty());
  }

  @AfterAll
  static void close() {
    browser.close();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(browser.hosts().settings().stateDirectory().resolve("live").toFile().list())
        .isEmpty();
  }

  /**
   * Tries every way that a page has to reach something; each line that it logs begins with "held"
   * or with "REACHED". Ends by making the element {@code #done}.
   *
   * @param mode of fetches: {@code no-cors} succeeds with any answer, also one of the proxy
   */
  private static String attempts(String host, int udpPort, String mode) {
    return "<body><script type=module>"
        + "const host = '"
        + host
        + "', udp = "
        + udpPort
        + ", mode = '"
        + mode
        + "';"
        + """
        const log = (what, got) => console.log(`${got ? 'REACHED' : 'held'} ${what}`);
        const tries = [];
        const attempt = (what, promise) => tries.push(Promise.race([promise, new Promise((_, b) => setTimeout(b, 1500))]).then(() => log(what, true), () => log(what, false)));
        const event = (target, yes, no) => new Promise((a, b) => { target['on' + yes] = a; target['on' + no] = b; });
        attempt('fetch', fetch(`http://${host}/fetch`, { mode }));
        attempt('metadata', fetch('http://169.254.169.254/latest/meta-data/', { mode }));
        attempt('file', fetch('file:///etc/passwd'));
        attempt('files by xhr', new Promise((a, b) => { const x = new XMLHttpRequest(); x.onload = a; x.onerror = b; x.open('GET', 'file:///workspace/page/index.html'); x.send(); }));
        attempt('https by name', fetch('https://example.com/', { mode }));
        attempt('own proxy', fetch('http://127.0.0.1:3128/', { mode }));
        attempt('debugging port', fetch('http://127.0.0.1:9222/json/version', { mode }));
        attempt('ipv6 loopback', fetch(`http://[::1]:${host.split(':')[1]}/six`, { mode }));
        attempt('odd address', fetch(`http://0x7f.1:${host.split(':')[1]}/odd`, { mode }));
        attempt('websocket', event(new WebSocket(`ws://${host}/ws`), 'open', 'error'));
        attempt('event source', event(new EventSource(`http://${host}/events`), 'open', 'error'));
        attempt('image', event(Object.assign(new Image(), { src: `http://${host}/image` }), 'load', 'error'));
        attempt('script', event(document.head.appendChild(Object.assign(document.createElement('script'), { src: `http://${host}/script` })), 'load', 'error'));
        attempt('service worker', (async () => { await navigator.serviceWorker.register('/sw.js'); if (!(await navigator.serviceWorker.getRegistrations()).length) throw 0; })());
        attempt('shared memory of others', (async () => new SharedArrayBuffer(8))());
        attempt('web transport', (async () => { const t = new WebTransport(`https://${host}/`); await t.ready; })());
        attempt('camera', (async () => navigator.mediaDevices.getUserMedia({ video: true }))());
        attempt('place', new Promise((a, b) => navigator.geolocation.getCurrentPosition(a, b)));
        attempt('local files', (async () => showOpenFilePicker())());
        attempt('window', (async () => { if (!window.open(`http://${host}/window`)) throw 0; })());
        navigator.sendBeacon(`http://${host}/beacon`, 'x');
        for (const [rel, href] of [['dns-prefetch', 'http://prefetch.example'], ['preconnect', `http://${host}`], ['prefetch', `http://${host}/prefetch`], ['prerender', `http://${host}/prerender`]]) document.head.append(Object.assign(document.createElement('link'), { rel, href }));
        for (const src of ['file:///etc/passwd', 'chrome://version', 'view-source:file:///etc/passwd', `http://${host}/frame`]) document.body.append(Object.assign(document.createElement('iframe'), { src }));
        attempt('webrtc', (async () => {
          const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${udp}` }, { urls: `turn:127.0.0.1:${udp}?transport=udp`, username: 'u', credential: 'c' }] });
          peer.createDataChannel('c');
          let candidates = 0;
          peer.onicecandidate = (e) => { if (e.candidate?.candidate) candidates += 1; };
          await peer.setLocalDescription(await peer.createOffer());
          while (!candidates) await new Promise((a) => peer.addEventListener('icecandidate', a, { once: true }));
        })());
        await Promise.all(tries);
        document.body.append(Object.assign(document.createElement('p'), { id: 'done', textContent: 'done' }));
        """
        + "</script>";
  }

  private static final String WAIT =
      ",\"results\":[\"console\",\"text\"],\"script\":[{\"action\":\"wait\",\"selector\":\"#done\"}]";

  private static void assertAllHeld(DriverOutcome outcome) {
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    List<String> words =
        console(outcome).stream().filter(l -> l.matches("log: (held|REACHED) .*")).toList();
    assertThat(words).hasSize(21).allMatch(l -> l.startsWith("log: held"));
  }

  @Test
  void withoutANetworkNothingLeavesByAnyWay() throws Exception {
    try (WebServer server = WebServer.start().page("/", "reached");
        DatagramChannel udp = DatagramChannel.open()) {
      udp.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
      int port = ((InetSocketAddress) udp.getLocalAddress()).getPort();
      DriverOutcome outcome = browser.html(attempts(server.place(), port, "no-cors"), WAIT).run();
      assertAllHeld(outcome);
      assertThat(egress(outcome)).isEqualTo("[]");
      assertThat(server.asked()).isEmpty();
      assertThat(udp.receive(ByteBuffer.allocate(2_048))).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "runc"})
  void withOnePlaceListedNoOtherIsReachedAndEachAttemptIsInTheLog(String engine) throws Exception {
    try (TestBrowser confined = TestBrowser.open(Optional.of(engine));
        WebServer listed = WebServer.start();
        WebServer other = WebServer.start().page("/", "reached");
        DatagramChannel udp = DatagramChannel.open()) {
      udp.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
      int port = ((InetSocketAddress) udp.getLocalAddress()).getPort();
      listed
          .page("/", attempts(other.place(), port, "cors"))
          .on("/sw.js", x -> WebServer.send(x, 200, "text/javascript", "1"));
      DriverOutcome outcome =
          confined.call("{\"url\":\"" + listed.url("/") + "\"" + WAIT + "}").run();
      assertAllHeld(outcome);
      assertThat(other.asked()).isEmpty();
      assertThat(listed.asked()).doesNotContain("GET /sw.js");
      assertThat(udp.receive(ByteBuffer.allocate(2_048))).isNull();
      assertThat(egress(outcome))
          .contains("\"host\":\"169.254.169.254\",\"kind\":\"connection\",\"port\":80")
          .contains("\"host\":\"example.com\"", "\"verdict\":\"denied\"", "\"not listed\"")
          .doesNotContain("google", "gstatic");
    }
  }

  @Test
  void aPageThatGoesToAnotherPlaceIsDenied() {
    try (WebServer listed = WebServer.start();
        WebServer other = WebServer.start().page("/", "reached")) {
      listed.on(
          "/",
          exchange -> {
            exchange.getResponseHeaders().set("Location", other.url("/"));
            exchange.sendResponseHeaders(302, -1);
          });
      DriverOutcome outcome =
          browser
              .call(
                  "{\"url\":\""
                      + listed.url("/")
                      + "\",\"script\":[{\"action\":\"wait\",\"load\":\"networkidle\"}]}")
              .run();
      assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("egress-denied");
      assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
      assertThat(other.asked()).isEmpty();
    }
  }

  @Test
  void questionsWithoutEndAreAnsweredUntilThereAreTooMany() {
    DriverOutcome outcome =
        browser
            .html(
                "<script>while (confirm('more?') || true);</script>", ",\"results\":[\"console\"]")
            .run();
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("too-many-dialogs");
    assertThat(number(outcome, "dialogs")).isEqualTo(51);
    assertThat(console(outcome)).contains("dialog: confirm: more?");
  }

  @Test
  void aScriptThatNeverYieldsIsLeft() {
    DriverOutcome outcome =
        browser
            .html(
                "<p>shown<script>onload = () => setTimeout(() => { for (;;); }, 0)</script>",
                ",\"timeout_ms\":2000,\"script\":[{\"action\":\"wait\",\"ms\":500}]")
            .run();
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("page-unresponsive");
    assertThat(number(outcome, "steps")).isEqualTo(1);
  }

  @Test
  void downloadsAndWindowsAreRefusedAndCounted() {
    DriverOutcome outcome =
        browser
            .html(
                "<button onclick=\"for (let i = 0; i < 5; i++) open('about:blank#' +"
                    + " i)\">x</button><script>for (let i = 0; i < 30; i++) open('about:blank');for"
                    + " (let i = 0; i < 3; i++) { const a = document.createElement('a');a.download"
                    + " = 'bomb' + i; a.href = URL.createObjectURL(new Blob([new Uint8Array(1 <<"
                    + " 20)])); a.click(); }</script>",
                ",\"results\":[\"console\"],\"script\":[{\"action\":\"click\",\"selector\":\"button\"},"
                    + "{\"action\":\"wait\",\"ms\":300}]")
            .run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(number(outcome, "popups")).isLessThanOrEqualTo(5);
    assertThat(number(outcome, "downloads")).isLessThanOrEqualTo(3);
    assertThat(outcome.artifacts()).isEmpty();
  }

  @Test
  void memoryWithoutEndIsItsReason() {
    DriverOutcome outcome =
        browser
            .html(
                "<script>console.log('began'); const a = []; for (;;) a.push(new Uint8Array(1 <<"
                    + " 24).fill(1))</script>",
                ",\"results\":[\"console\"]")
            .memoryBytes(640 << 20)
            .run();
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("out-of-memory");
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.KILLED);
    assertThat(console(outcome)).contains("log: began");
  }

  @Test
  void aPageThatNeverEndsIsTimedOut() {
    try (WebServer server = WebServer.start()) {
      server.on(
          "/",
          exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, 0);
            exchange
                .getResponseBody()
                .write("<script>console.log('began')</script>".getBytes(StandardCharsets.UTF_8));
            for (; ; ) {
              exchange.getResponseBody().write(" ".repeat(4_096).getBytes(StandardCharsets.UTF_8));
              exchange.getResponseBody().flush();
            }
          });
      String params = "{\"url\":\"" + server.url("/") + "\",\"results\":[\"console\"]";
      DriverOutcome call = browser.call(params + ",\"timeout_ms\":2000}").run();
      assertThat(call.reason()).as(Call.show(call)).isEqualTo("navigation-failed");
      assertThat(call.message()).contains("Timeout 2000ms exceeded");
      assertThat(console(call)).contains("log: began");
      DriverOutcome wall = browser.call(params + "}").wallMs(4_000).run();
      assertThat(wall.reason()).as(Call.show(wall)).isEqualTo("timed-out");
      assertThat(wall.end()).isEqualTo(DriverOutcome.End.TIMED_OUT);
    }
  }

  @Test
  void aHugeDocumentAndAFloodOfWordsAreCutToTheirShare() {
    DriverOutcome outcome =
        browser
            .html(
                "<body><script>for (let i = 0; i < 2000; i++) console.log(i,"
                    + " 'w'.repeat(20000));document.body.innerHTML = '<pre>\\ud83d\\ude00' +"
                    + " ('x'.repeat(80) + '\\u0001\\n').repeat(6000)</script>",
                ",\"results\":[\"console\",\"html\",\"text\"]")
            .outputBytes(1 << 20)
            .run();
    assertThat(outcome.end()).as(outcome.message()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(outcome.output().orElseThrow().bytes().length).isBetween(500_000, 1 << 20);
    assertThat(output(outcome).get("html_truncated")).isEqualTo(JsonValue.TRUE);
    assertThat(output(outcome).get("text_truncated")).isEqualTo(JsonValue.TRUE);
    assertThat(number(outcome, "console_dropped")).isGreaterThan(1_900);
    assertThat(text(outcome, "text")).startsWith("\ud83d\ude00").doesNotContain("\ufffd");
  }
}
