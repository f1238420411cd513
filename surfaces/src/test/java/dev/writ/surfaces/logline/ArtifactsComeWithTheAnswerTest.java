package dev.writ.surfaces.logline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.Behaviours;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the seed calls "Screenshot, PDF": in the answer, or at an address for who may read it. */
class ArtifactsComeWithTheAnswerTest {
  private static final byte[] PICTURE = {(byte) 0x89, 'P', 'N', 'G', 0, 1, 2, 3};
  private static final byte[] DOCUMENT = "%PDF-1.7 of some length".getBytes(StandardCharsets.UTF_8);
  private static final String POLICY =
      SeedServer.POLICY.replace(
          "subject: bob, roles: [worker], surfaces: [engine]",
          "subject: bob, roles: [worker], surfaces: [engine, logline]");
  private static final String BODY =
      """
      {"tool_id":"web_browser","input":{"url":"https://example.com/"},
       "context":{"run_id":"run_123","tenant_id":"acme"}}
      """;

  @TempDir Path dir;
  private SeedServer server;
  private LoglineCaller alice;

  private static LoglineConfig config() {
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    tools.put(
        "web_browser",
        new LoglineConfig.Tool(
            "code_interpreter",
            "1.0.0",
            "twice",
            new Resources(1000, 1 << 20, 1 << 20, 1000),
            "box",
            JsonValue.object().put("results", "png").put("url", "about:blank").build()));
    return new LoglineConfig(
        List.of(LoglineCaller.secret("of alice", "alice"), LoglineCaller.secret("of bob", "bob")),
        tools,
        PICTURE.length + DOCUMENT.length - 1);
  }

  @BeforeEach
  void start() {
    server =
        new SeedServer(dir, POLICY, pipeline -> List.of(new LoglineSurface(pipeline, config())));
    alice = LoglineCaller.of(server, "of alice");
    server.home.driver.does(
        "code_interpreter",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.SUCCEEDED,
                "ok",
                "",
                Optional.of(
                    new DriverOutcome.Output(
                        "{\"html\":\"<p>\"}".getBytes(StandardCharsets.UTF_8), Behaviours.JSON)),
                List.of(
                    new DriverOutcome.Artifact("page.pdf", DOCUMENT, "application/pdf"),
                    new DriverOutcome.Artifact("screenshot.png", PICTURE, "image/png")),
                DriverOutcome.Metrics.NONE,
                JsonValue.object().build()));
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private List<JsonValue.Obj> artifacts() {
    Reply reply = alice.execute("web_browser", BODY);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    JsonValue.Obj result = (JsonValue.Obj) reply.json().get("result");
    assertThat(result.get("html")).isEqualTo(JsonValue.of("<p>"));
    assertThat(result.get("stdout")).as("not the same once more").isEqualTo(JsonValue.of(""));
    return ((JsonValue.Arr) result.get("artifacts"))
        .items().stream().map(JsonValue.Obj.class::cast).toList();
  }

  /** A client of the seed does not know that our browser has to be told what to take. */
  @Test
  void whatTheInputDoesNotStateTheConfigurationDoes() {
    artifacts();
    assertThat(server.home.driver.runs().getFirst().invocation().params())
        .isEqualTo(
            JsonValue.object().put("results", "png").put("url", "https://example.com/").build());
  }

  private static String text(JsonValue.Obj object, String member) {
    return ((JsonValue.Str) object.get(member)).value();
  }

  @Test
  void whatFitsIsInTheAnswerAndWhatDoesNotHasAnAddress() {
    List<JsonValue.Obj> artifacts = artifacts();
    assertThat(artifacts)
        .extracting(a -> text(a, "name"))
        .containsExactly("page.pdf", "screenshot.png");
    assertThat(artifacts)
        .extracting(a -> text(a, "media_type"))
        .containsExactly("application/pdf", "image/png");
    JsonValue.Obj whole = artifacts.getFirst();
    assertThat(Base64.getDecoder().decode(text(whole, "content"))).isEqualTo(DOCUMENT);
    assertThat(text(whole, "digest")).isEqualTo(Digest.sha256(DOCUMENT).toString());
    assertThat(whole.get("size")).isEqualTo(JsonValue.of(DOCUMENT.length));
    assertThat(whole.get("url")).isNull();
    JsonValue.Obj beyond = artifacts.getLast();
    assertThat(beyond.get("content")).isNull();
    Reply fetched = alice.call("GET", text(beyond, "url"));
    assertThat(fetched.status()).as(fetched.text()).isEqualTo(200);
    assertThat(fetched.body()).isEqualTo(PICTURE);
    assertThat(fetched.response().headers().firstValue("Writ-Media-Type")).contains("image/png");
  }

  @Test
  void anAddressIsNoRight() {
    String url = text(artifacts().getLast(), "url");
    isUnknown(LoglineCaller.of(server, "of bob").call("GET", url));
    isUnknown(alice.call("GET", url.replaceAll("sha256:....", "sha256:0000")));
    isUnknown(alice.call("GET", url.substring(0, url.length() - 4) + "0000"));
    assertThat(server.get("alice", url).status())
        .as("a token is none of this surface's credentials")
        .isEqualTo(404);
    assertThat(alice.signing("GET " + url, "GET", url + "?a=1").string("code"))
        .isEqualTo("GWY-018");
  }

  @Test
  void whatAnAuditorReadsOfOthersIsInTheLogWherePolicySaysSo() {
    server.home.activate(
        POLICY
            + """
            people: [ { tenant: acme, subject: bob, roles: [auditor] } ]
            reads: [ { tenant: acme, what: [outputs] } ]
            """);
    String url = text(artifacts().getLast(), "url");
    assertThat(alice.call("GET", url).status()).isEqualTo(200);
    assertThat(reads()).as("what is one's own").isEmpty();
    assertThat(LoglineCaller.of(server, "of bob").call("GET", url).body()).isEqualTo(PICTURE);
    assertThat(reads())
        .singleElement()
        .satisfies(read -> {
          assertThat(read.by()).isEqualTo(new ReadEvent.Person("acme", "bob", "hmac"));
          assertThat(read.thing()).isEqualTo(ReadEvent.Thing.of("run_123", Digest.sha256(PICTURE)));
        });
    server.home.clock.forward(Duration.ofSeconds(60));
    server.home.beforeWrite(() -> {
      throw new IllegalStateException("the disk is full");
    });
    Reply refused = LoglineCaller.of(server, "of bob").call("GET", url);
    server.home.beforeWrite(() -> {});
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.body()).doesNotContain(PICTURE);
  }

  private List<ReadEvent> reads() {
    return server.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()).stream()
        .map(event -> ReadEvent.read(server.home.document(event.body()).document()))
        .toList();
  }

  private static void isUnknown(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(404);
    assertThat(reply.string("code")).isEqualTo("GWY-040");
    assertThat(reply.string("status")).isEqualTo("error");
  }

  @Test
  void methodAndPathAreSignedAndASignatureIsAcceptedOnce() {
    String url = text(artifacts().getLast(), "url");
    for (String other : List.of("", url, "HEAD " + url, "GET " + url + "0", "DELETE " + url)) {
      Reply refused = alice.signing(other, "GET", url);
      assertThat(refused.status()).isEqualTo(401);
      assertThat(refused.string("code")).isEqualTo("GWY-105");
    }
    LoglineCaller again = LoglineCaller.of(server, "of alice");
    assertThat(again.call("GET", url).status()).isEqualTo(200);
    isRefusedAsRepeated(url);
    server.restart();
    isRefusedAsRepeated(url);
  }

  private void isRefusedAsRepeated(String url) {
    Reply repeated = LoglineCaller.of(server, "of alice").call("GET", url);
    assertThat(repeated.status()).isEqualTo(409);
    assertThat(repeated.string("code")).isEqualTo("GWY-106");
  }

  /** What is fresh no longer is refused by its timestamp, and needs no row. */
  @Test
  void theLedgerKeepsAsManySignaturesAsAreFresh() {
    String url = text(artifacts().getLast(), "url");
    alice.call("GET", url);
    alice.call("GET", url);
    assertThat(rows()).isEqualTo(2);
    server.home.clock.forward(LoglineAuthentication.SKEW.plusSeconds(1));
    assertThat(alice.call("GET", url).status()).isEqualTo(200);
    assertThat(rows()).isEqualTo(1);
    server.home.clock.forward(LoglineAuthentication.SKEW.plusSeconds(1));
    server.restart();
    assertThat(alice.call("GET", url).status()).isEqualTo(200);
    assertThat(rows()).isEqualTo(1);
  }

  private int rows() {
    List<String> keys = new ArrayList<>();
    server.home.kernel().ledger().scan(Tables.SIGNATURE, "", (key, _) -> keys.add(key));
    return keys.size();
  }

  /** spec/surface-logline.md has the same. */
  @Test
  void theSignatureOfACallWithoutABodyIsWhatAnotherImplementationComputes() {
    // python3: hmac.new(b"key", b"1715000000.DELETE /execute/runs/tenant_abc/run_123", "sha256")
    assertThat(
            HexFormat.of()
                .formatHex(
                    LoglineAuthentication.hmac(
                        "key".getBytes(StandardCharsets.UTF_8),
                        "1715000000",
                        "DELETE /execute/runs/tenant_abc/run_123"
                            .getBytes(StandardCharsets.UTF_8))))
        .isEqualTo("2c84c7c5218378fd2dfa394c2bc8a28e85107b2062c79831e8db65b216d722e2");
  }
}
