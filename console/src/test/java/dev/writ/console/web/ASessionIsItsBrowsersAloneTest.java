package dev.writ.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ReadEvent;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.message.Headers;
import dev.writ.guardian.document.AccessDocument;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signing in over a socket, and what other pages, other people and other times get. */
class ASessionIsItsBrowsersAloneTest {
  private static final String SESSION = "/console/session";
  private static final String TOKENS =
      "tokens:\n" + WholeGateway.token("alice", "alice", "") + WholeGateway.token("bob", "bob", "");

  @TempDir Path dir;
  private final Sessions sessions = new Sessions(new SecureRandom(), false);
  private TestHome home;
  private WholeGateway server;

  @BeforeEach
  void start() {
    home = TestGateway.newHome(dir);
    server =
        new WholeGateway(
            home,
            "writ_gateway: 1\nlisten: { port: 0 }\n" + TOKENS,
            dir,
            installation -> installation.with(sessions),
            pipeline ->
                List.of(
                    new ConsoleSurface(
                        pipeline, sessions, new ConsoleSurface.Server("1", "", false))));
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  /** What a browser has of a session. */
  private record Signed(String cookie, String csrf) {}

  private Signed signIn(String who) throws Exception {
    HttpResponse<String> answer =
        server.send(server.as(who, SESSION).POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(204);
    String header = answer.headers().firstValue("set-cookie").orElseThrow();
    assertThat(header)
        .matches(
            "writ-session=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200");
    String cookie = header.substring(0, header.indexOf(';'));
    return new Signed(cookie, text(session(cookie).body(), "csrf"));
  }

  private static String text(String body, String member) {
    return ((JsonValue.Str)
            ((JsonValue.Obj) Jcs.parse(body.getBytes(StandardCharsets.UTF_8))).get(member))
        .value();
  }

  private HttpResponse<String> session(String cookie) throws Exception {
    return server.send(server.to(SESSION).header("Cookie", cookie).GET());
  }

  private static String problem(HttpResponse<String> answer) {
    return answer.statusCode() + " " + text(answer.body(), "code");
  }

  private HttpRequest.Builder signOut(Signed signed) {
    return server.to(SESSION).header("Cookie", signed.cookie).DELETE();
  }

  @Test
  void whoSignsInReadsAsThatSubjectAndNobodyElse() throws Exception {
    Signed alice = signIn("alice");
    HttpResponse<String> seen = session("other=1; " + alice.cookie + "; more=2");
    assertThat(text(seen.body(), "subject")).isEqualTo("alice");
    assertThat(text(seen.body(), "tenant")).isEqualTo("acme");
    assertThat(seen.headers().firstValue("cache-control")).contains("no-store");
    server.post("alice", "/test/run-1/calc", "{\"n\":1}");
    String own = server.send(server.to("/v1/runs").header("Cookie", alice.cookie).GET()).body();
    String foreign =
        server.send(server.to("/v1/runs").header("Cookie", signIn("bob").cookie).GET()).body();
    assertThat(own).contains("run-1");
    assertThat(foreign).doesNotContain("run-1");
  }

  /** A program with the same subject's token is none; what it reads is not recorded. */
  @Test
  void whatASessionReadsOfOthersIsInTheLogWherePolicySaysSo() throws Exception {
    home.activate(
        TestPolicy.SHARED.replace(
                "subject: alice, roles: [worker]",
                "subject: alice, roles: [worker], surfaces: [test, vouched]")
            + "reads: [ { tenant: acme, what: [bundles] } ]\n");
    server.post("alice", "/test/run-1/calc", "{\"n\":1}");
    String bundle = "/v1/runs/run-1/bundle";
    assertThat(server.send(server.as("bob", bundle).GET()).statusCode()).isEqualTo(200);
    assertThat(home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run())).isEmpty();
    Signed bob = signIn("bob");
    assertThat(server.send(server.to(bundle).header("Cookie", bob.cookie).GET()).statusCode())
        .isEqualTo(200);
    assertThat(home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()))
        .singleElement()
        .satisfies(event -> {
          ReadEvent read = ReadEvent.read(home.document(event.body()).document());
          assertThat(read.by()).isEqualTo(new ReadEvent.Person("acme", "bob", "session"));
          assertThat(read.thing()).isEqualTo(ReadEvent.Thing.ofRun("run-1"));
        });
  }

  @Test
  void aCallThatChangesSomethingShowsThatItComesFromThePage() throws Exception {
    Signed alice = signIn("alice");
    Signed bob = signIn("bob");
    assertThat(problem(server.send(signOut(alice)))).isEqualTo("403 GWY-091");
    assertThat(problem(server.send(signOut(alice).header("Writ-Csrf", bob.csrf))))
        .isEqualTo("403 GWY-091");
    assertThat(problem(server.send(signOut(alice).header("Writ-Csrf", ""))))
        .isEqualTo("403 GWY-091");
    assertThat(session(alice.cookie).statusCode()).isEqualTo(200);
    assertThat(server.send(signOut(alice).header("Writ-Csrf", alice.csrf)).statusCode())
        .isEqualTo(204);
    assertThat(problem(session(alice.cookie))).isEqualTo("401 GWY-090");
    assertThat(problem(server.send(signOut(alice).header("Writ-Csrf", alice.csrf))))
        .isEqualTo("401 GWY-090");
  }

  @Test
  void pagesOfOtherSitesUseNoSession() throws Exception {
    Signed alice = signIn("alice");
    for (String site : List.of("cross-site", "same-site")) {
      assertThat(
              problem(
                  server.send(
                      server
                          .to("/v1/runs")
                          .header("Cookie", alice.cookie)
                          .header("Sec-Fetch-Site", site)
                          .GET())))
          .isEqualTo("403 GWY-092");
    }
    assertThat(
            problem(
                server.send(
                    signOut(alice)
                        .header("Writ-Csrf", alice.csrf)
                        .header("Origin", "https://evil.example"))))
        .isEqualTo("403 GWY-092");
    assertThat(session(alice.cookie).statusCode()).isEqualTo(200);
  }

  @Test
  void aSessionAsksForNoEffect() throws Exception {
    Signed alice = signIn("alice");
    HttpResponse<String> asked =
        server.send(
            server
                .to("/test/run-1/calc")
                .header("Cookie", alice.cookie)
                .header("Writ-Csrf", alice.csrf)
                .POST(HttpRequest.BodyPublishers.ofString("{\"n\":1}")));
    assertThat(problem(asked)).isEqualTo("403 GWY-022");
  }

  @Test
  void aSessionOpensNoOther() throws Exception {
    Signed alice = signIn("alice");
    HttpResponse<String> answer =
        server.send(
            server
                .to(SESSION)
                .header("Cookie", alice.cookie)
                .header("Writ-Csrf", alice.csrf)
                .POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(problem(answer)).isEqualTo("403 GWY-094");
    assertThat(sessions.size()).isEqualTo(1);
  }

  @Test
  void aSessionThatSomebodyMadeUpIsNone() throws Exception {
    assertThat(problem(session("writ-session=" + "A".repeat(43)))).isEqualTo("401 GWY-090");
    HttpResponse<String> answer =
        server.send(
            server
                .as("alice", SESSION)
                .header("Cookie", "writ-session=" + "A".repeat(43))
                .POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(answer.headers().firstValue("set-cookie").orElseThrow())
        .doesNotContain("A".repeat(43));
    assertThat(problem(session("writ-session=" + "A".repeat(43)))).isEqualTo("401 GWY-090");
  }

  @Test
  void anIdleSessionEndsAndEverySessionEnds() throws Exception {
    Signed alice = signIn("alice");
    server.home.clock.forward(Duration.ofMinutes(29));
    assertThat(session(alice.cookie).statusCode()).isEqualTo(200);
    server.home.clock.forward(Duration.ofMinutes(30));
    assertThat(problem(session(alice.cookie))).isEqualTo("401 GWY-090");
    Signed again = signIn("alice");
    for (int i = 0; i < 24; i++) {
      server.home.clock.forward(Duration.ofMinutes(29));
      session(again.cookie);
    }
    server.home.clock.forward(Duration.ofMinutes(25));
    assertThat(problem(session(again.cookie))).isEqualTo("401 GWY-090");
  }

  /** Nothing is dated by a look at the page, and no session lives longer for a clock's sake. */
  @Test
  void whatIsSeenWhileTheClockIsAheadForAMomentLastsNoLonger() throws Exception {
    Signed before = signIn("alice");
    server.home.clock.leap(Duration.ofMinutes(20));
    Signed ahead = signIn("alice");
    assertThat(session(before.cookie).statusCode()).isEqualTo(200);
    server.home.clock.leap(Duration.ofMinutes(-20));
    assertThat(server.post("alice", "/test/run-1/calc", "{\"n\":1}").statusCode()).isEqualTo(200);
    assertThat(session(before.cookie).statusCode()).isEqualTo(200);
    assertThat(problem(session(ahead.cookie))).isEqualTo("401 GWY-090");
  }

  @Test
  void aSessionEndsWithTheTimeOfTheCertificateThatOpenedIt() {
    Instant now = server.home.clock.instant();
    Caller by =
        new Caller(
            "mtls", "people", "a", "acme", "alice", List.of(), Optional.of(now.plusSeconds(60)));
    String set = sessions.open(by, now);
    Headers shown = Headers.of(List.of(Map.entry("Cookie", set.substring(0, set.indexOf(';')))));
    assertThat(sessions.of(shown, now.plusSeconds(59))).isPresent();
    assertThat(Refused.code(() -> sessions.of(shown, now.plusSeconds(60)))).isEqualTo("GWY-090");
  }

  @Test
  void aSessionEndsWithTheTokenThatOpenedIt() throws Exception {
    Signed alice = signIn("alice");
    Signed bob = signIn("bob");
    reload(WholeGateway.token("bob", "bob", ""));
    assertThat(problem(session(alice.cookie))).isEqualTo("401 GWY-090");
    assertThat(session(bob.cookie).statusCode()).isEqualTo(200);
    reload(WholeGateway.token("bob", "bob", "roles: [worker]")); // the same, but narrower
    assertThat(problem(session(bob.cookie))).isEqualTo("401 GWY-090");
  }

  private void reload(String tokens) {
    server.gateway.reload(() ->
        GatewayConfig.parse(
            ("writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n" + tokens)
                .getBytes(StandardCharsets.UTF_8),
            "gateway.yaml",
            Map.of()));
  }

  @Test
  void oneCredentialHasABoundedNumberOfSessions() throws Exception {
    for (int i = 0; i < 16; i++) {
      signIn("alice");
    }
    assertThat(
            problem(
                server.send(server.as("alice", SESSION).POST(HttpRequest.BodyPublishers.noBody()))))
        .isEqualTo("429 GWY-093");
    signIn("bob");
    server.home.clock.forward(Duration.ofMinutes(31));
    signIn("alice");
  }

  /** What an agent's key signs to show whose it is. */
  private String access(String who) {
    Instant now = server.home.clock.instant();
    return AccessDocument.header(
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(TestKeys.TENANT, TestHome.ORIGIN, now, now.plusSeconds(60)).toJson(),
            TestKeys.key(who)));
  }

  private HttpResponse<String> posted(String path, String authorization) throws Exception {
    return server.send(
        server
            .to(path)
            .header("Authorization", authorization)
            .POST(HttpRequest.BodyPublishers.noBody()));
  }

  private String code(String who) throws Exception {
    HttpResponse<String> issued = posted("/console/sign-in-codes", access(who));
    assertThat(issued.statusCode()).as(issued.body()).isEqualTo(201);
    assertThat(issued.headers().firstValue("cache-control")).contains("no-store");
    return text(issued.body(), "code");
  }

  @Test
  void whoHasAKeySignsInByACodeThatCountsOnce() throws Exception {
    String code = code("alice");
    HttpResponse<String> opened = posted(SESSION, "Writ-Code " + code);
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(204);
    String header = opened.headers().firstValue("set-cookie").orElseThrow();
    String cookie = header.substring(0, header.indexOf(';'));
    assertThat(text(session(cookie).body(), "subject")).isEqualTo("alice");
    for (String wrong : List.of(code, "", code("alice") + "x")) {
      assertThat(problem(posted(SESSION, "Writ-Code " + wrong))).as(wrong).isEqualTo("401 GWY-095");
    }
    String late = code("alice");
    server.home.clock.forward(Duration.ofMinutes(2));
    assertThat(problem(posted(SESSION, "Writ-Code " + late))).isEqualTo("401 GWY-095");
    // The key is what it rests on.
    assertThat(session(cookie).statusCode()).isEqualTo(200);
    server.home.revoke("alice");
    assertThat(problem(session(cookie))).isEqualTo("401 GWY-090");
    assertThat(posted("/console/sign-in-codes", access("alice")).statusCode()).isEqualTo(403);
  }

  @Test
  void nobodyElseGetsACode() throws Exception {
    HttpResponse<String> token =
        server.send(
            server.as("alice", "/console/sign-in-codes").POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(problem(token)).isEqualTo("403 GWY-094");
    Signed bob = signIn("bob");
    HttpResponse<String> session =
        server.send(
            server
                .to("/console/sign-in-codes")
                .header("Cookie", bob.cookie)
                .header("Writ-Csrf", bob.csrf)
                .POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(problem(session)).isEqualTo("403 GWY-094");
  }

  @Test
  void ofTooManyCodesTheOldestOfTheirHolderIsForgotten() throws Exception {
    String alices = code("alice");
    String first = code("bob");
    String second = code("bob");
    for (int i = 0; i < 15; i++) {
      code("bob");
    }
    assertThat(problem(posted(SESSION, "Writ-Code " + first))).isEqualTo("401 GWY-095");
    assertThat(posted(SESSION, "Writ-Code " + second).statusCode()).isEqualTo(204);
    for (int i = 0; i < 255; i++) {
      code("bob");
    }
    assertThat(posted(SESSION, "Writ-Code " + alices).statusCode()).isEqualTo(204);
  }

  @Test
  void thePageLetsNothingElseIn() throws Exception {
    HttpResponse<String> page = server.send(server.to("/").GET());
    assertThat(page.headers().firstValue("content-security-policy").orElseThrow())
        .contains("default-src 'none'", "frame-ancestors 'none'", "trusted-types 'none'")
        .doesNotContain("unsafe", "http:", "*");
    assertThat(page.headers().allValues("x-content-type-options")).containsExactly("nosniff");
    assertThat(page.body()).doesNotContain("http://", "https://", "style=", "onclick");
    assertThat(server.send(server.to("/console/sign-in").GET()).body())
        .isEqualTo("{\"ways\":[\"token\"]}");
    for (String odd :
        List.of("/console/", "/console/../gateway.yaml", "/console/%2e%2e/x", "/console/web")) {
      assertThat(server.send(server.to(odd).GET()).statusCode()).as(odd).isEqualTo(404);
    }
  }

  @Test
  void whatABrowserHasIsNotSentAgain() throws Exception {
    HttpResponse<String> first = server.send(server.to("/console/main.mjs").GET());
    HttpResponse<String> again =
        server.send(
            server
                .to("/console/main.mjs")
                .header("If-None-Match", first.headers().firstValue("etag").orElseThrow())
                .GET());
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
  }

  /** Names of files in a list: a jar cannot be asked what it has. */
  @Test
  void everyFileOfThePageIsServed() throws Exception {
    Path web = Path.of("src/main/resources/dev/writ/console/web");
    List<String> there;
    try (Stream<Path> all = Files.walk(web)) {
      there =
          all.filter(Files::isRegularFile)
              .map(file -> web.relativize(file).toString())
              .filter(name -> !name.equals("files.txt"))
              .sorted()
              .toList();
    }
    assertThat(Files.readAllLines(web.resolve("files.txt"))).isEqualTo(there);
    for (String name : there) {
      assertThat(server.send(server.to("/console/" + name).GET()).statusCode()).isEqualTo(200);
    }
  }
}
