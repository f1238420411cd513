package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.document.AccessDocument;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The stream of a session's own messages: of its changes, of nobody else's, and to its end. */
@Timeout(60)
class AClientIsToldOfChangedListsTest {
  /** Alice loses a tool that Bob never had. */
  private static final String LESS_FOR_ALICE =
      McpTestServer.POLICY.replace("tools: [calc, mail, pay, sim]", "tools: [calc, mail, pay]");

  /** Both lose one. */
  private static final String LESS_FOR_BOTH =
      LESS_FOR_ALICE
          .replace("tools: [calc, mail, pay]", "tools: [calc, pay]")
          .replace("tools: [calc/text, mail]", "tools: [calc/text]");

  private static final String TOLD =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";

  @TempDir static Path dir;
  private static McpTestServer server;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @BeforeAll
  static void start() {
    server = new McpTestServer(dir);
    assertThat(LESS_FOR_ALICE).isNotEqualTo(McpTestServer.POLICY);
    assertThat(LESS_FOR_BOTH).doesNotContain("tools: [calc/text, mail]", "[calc, mail, pay]");
  }

  @AfterEach
  void allAsBefore() {
    http.close();
    server.activate(McpTestServer.POLICY);
    assertThat(server.failures).isEmpty();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** An open stream. */
  private final class Stream implements AutoCloseable {
    private final BufferedReader lines;

    Stream(HttpRequest.Builder request) throws Exception {
      HttpResponse<InputStream> answer =
          http.send(request.GET().build(), HttpResponse.BodyHandlers.ofInputStream());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("Content-Type")).contains("text/event-stream");
      lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
    }

    /** The next message; empty at the end. */
    String next() throws IOException {
      String line = lines.readLine();
      while (line != null && !line.startsWith("data: ")) {
        line = lines.readLine();
      }
      return line == null ? "" : line.substring(6);
    }

    List<String> rest() throws IOException {
      List<String> all = new ArrayList<>();
      for (String message = next(); !message.isEmpty(); message = next()) {
        all.add(message);
      }
      return all;
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }
  }

  private static int end(McpTestServer.Client client) {
    return server.send(client.request().DELETE()).status();
  }

  private static McpTestServer.Reply get(HttpRequest.Builder request) {
    return server.send(request.GET());
  }

  @ParameterizedTest
  @ValueSource(strings = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
  void inASessionOfEachVersionItsToolsAreOthers(String version) throws Exception {
    McpTestServer.Client alice = server.client("alice", version);
    assertThat(alice.initialized.text()).contains("\"tools\":{\"listChanged\":true}");
    try (Stream stream = new Stream(alice.request())) {
      server.activate(LESS_FOR_ALICE);
      assertThat(stream.next()).isEqualTo(TOLD);
      assertThat(alice.ask("tools/list", "{}").text()).doesNotContain("\"sim\"");
      end(alice);
      assertThat(stream.rest()).isEmpty();
    }
  }

  @Test
  void aServerThatDrainsWakesOpenStreamsAtOnce(@TempDir Path own) throws Exception {
    try (McpTestServer other = new McpTestServer(own);
        Stream stream = new Stream(other.client("alice").request())) {
      long before = other.wakings();
      assertThat(other.drained()).isTrue();
      assertThat(other.wakings()).isGreaterThan(before);
      assertThat(stream.rest()).isEmpty();
    }
  }

  @Test
  void whatThisCallerDoesNotSeeIsNotToldAndNothingAfterTheSession() throws Exception {
    McpTestServer.Client alice = server.client("alice");
    McpTestServer.Client bob = server.client("bob");
    McpTestServer.Client ended = server.client("bob");
    try (Stream alices = new Stream(alice.request());
        Stream bobs = new Stream(bob.request());
        Stream nobodys = new Stream(ended.request())) {
      assertThat(end(ended)).isEqualTo(204);
      server.activate(LESS_FOR_ALICE);
      assertThat(alices.next()).isEqualTo(TOLD);
      server.activate(LESS_FOR_ALICE.replace("wall_ms: 500", "wall_ms: 400")); // no list shows it
      server.activate(LESS_FOR_BOTH);
      assertThat(alices.next()).isEqualTo(TOLD);
      assertThat(bobs.next()).isEqualTo(TOLD);
      end(alice);
      end(bob);
      assertThat(alices.rest()).isEmpty();
      assertThat(bobs.rest()).as("the change of the others' tools").isEmpty();
      assertThat(nobodys.rest()).as("after its end").isEmpty();
    }
    assertThat(get(ended.request()).status()).isEqualTo(404);
  }

  @Test
  void whatChangedSinceTheClientLookedIsToldWhenItListensAndWhatItSawIsNot() throws Exception {
    McpTestServer.Client alice = server.client("alice");
    server.activate(LESS_FOR_ALICE);
    try (Stream stream = new Stream(alice.request())) {
      assertThat(stream.next()).as("changed since initialize").isEqualTo(TOLD);
    }
    server.activate(LESS_FOR_BOTH);
    alice.ask("tools/list", "{}");
    try (Stream stream = new Stream(alice.request())) {
      server.activate(LESS_FOR_ALICE);
      assertThat(stream.next()).isEqualTo(TOLD);
      end(alice);
      assertThat(stream.rest()).as("it had seen the list before").isEmpty();
    }
  }

  @Test
  void theStreamOpenedLastIsTheOne() throws Exception {
    McpTestServer.Client alice = server.client("alice");
    try (Stream first = new Stream(alice.request());
        Stream second = new Stream(alice.request())) {
      assertThat(first.rest()).isEmpty();
      server.activate(LESS_FOR_ALICE);
      assertThat(second.next()).isEqualTo(TOLD);
      end(alice);
      assertThat(second.rest()).isEmpty();
    }
  }

  @Test
  void itIsForWhoOpenedTheSessionAndForNobodyElse() {
    McpTestServer.Client alice = server.client("alice");
    for (String other : List.of("bob", "second", "eve")) {
      McpTestServer.Reply foreign = get(server.as(other).header("Mcp-Session-Id", alice.session));
      assertThat(foreign.status()).isEqualTo(404);
      assertThat(foreign.text()).contains("GWY-154");
    }
    assertThat(get(server.as("alice").header("Mcp-Session-Id", "0".repeat(32))).text())
        .contains("GWY-154");
    HttpRequest.Builder nobody =
        HttpRequest.newBuilder(URI.create(server.url() + "/mcp"))
            .header("Accept", "text/event-stream")
            .header("Mcp-Session-Id", alice.session);
    assertThat(get(nobody).status()).isEqualTo(401);
    assertThat(get(alice.request().header("Origin", "https://evil.example")).text())
        .contains("GWY-155");
    assertThat(get(alice.request().setHeader("Accept", "application/json")).text())
        .contains("GWY-210");
    assertThat(get(alice.request().setHeader("MCP-Protocol-Version", "1999-01-01")).text())
        .contains("GWY-152");
    assertThat(get(alice.request().uri(URI.create(server.url() + "/mcp/other"))).text())
        .as("a session is of one view")
        .contains("GWY-154");
  }

  @Test
  void outsideOfASessionThereIsNone() {
    assertThat(get(server.as("alice")).status()).isEqualTo(405);
    McpTestServer.Client alice = server.client("alice");
    assertThat(get(alice.request().setHeader("MCP-Protocol-Version", "2026-07-28")).status())
        .isEqualTo(405);
  }

  @Test
  void aRevokedKeyIsToldNothingMore() throws Exception {
    Instant now = server.home.clock.instant();
    String access =
        AccessDocument.header(
            Envelope.sign(
                AccessDocument.TYPE,
                new AccessDocument(TestKeys.TENANT, TestHome.ORIGIN, now, now.plusSeconds(30))
                    .toJson(),
                TestKeys.key("bob")));
    HttpRequest.Builder request = server.as("bob").setHeader("Authorization", access);
    String session =
        server
            .send(McpTestServer.json(request, McpTestServer.bytes(McpTestServer.INITIALIZE)))
            .header("Mcp-Session-Id");
    HttpRequest.Builder listen =
        server.as("bob").setHeader("Authorization", access).header("Mcp-Session-Id", session);
    try (Stream stream = new Stream(listen)) {
      server.home.revoke("bob");
      server.activate(LESS_FOR_BOTH);
      assertThat(stream.rest()).isEmpty();
    }
  }

  @Test
  void anAnswerNeverComesInIt() throws Exception {
    McpTestServer.Client alice = server.client("alice");
    try (Stream stream = new Stream(alice.request())) {
      assertThat(stream.lines.readLine()).as("a sign of life").startsWith(":");
      assertThat(alice.ask("tools/list", "{}").result()).isNotNull();
      end(alice);
      assertThat(stream.rest()).as("answers come where they were asked for").isEmpty();
    }
  }
}
