package dev.writ.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Sessions;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All sessions of somebody end at once: for whoever they are of, and for operators. */
class SigningOutEverywhereTest {
  private static final String SESSION = "/console/session";
  private static final String ALL = "/console/sessions";

  @TempDir Path dir;
  private final Sessions sessions = new Sessions(new SecureRandom(), false);
  private final List<SignOutSurface.Ended> told = new ArrayList<>();
  private TestHome home;
  private WholeGateway server;

  @BeforeEach
  void start() {
    home = TestGateway.newHome(dir);
    server =
        new WholeGateway(
            home,
            "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n"
                + WholeGateway.token("alice", "alice", "")
                + WholeGateway.token("bob", "bob", ""),
            dir,
            installation -> installation.with(sessions),
            pipeline ->
                List.of(
                    new ConsoleSurface(
                        pipeline, sessions, new ConsoleSurface.Server("1", "", false)),
                    new SignOutSurface(pipeline, sessions, told::add)));
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private String signIn(String who) throws Exception {
    HttpResponse<String> answer =
        server.send(server.as(who, SESSION).POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(204);
    return cookie(answer);
  }

  private static String cookie(HttpResponse<String> answer) {
    String header = answer.headers().firstValue("set-cookie").orElseThrow();
    return header.substring(0, header.indexOf(';'));
  }

  private HttpResponse<String> session(String cookie) throws Exception {
    return server.send(server.to(SESSION).header("Cookie", cookie).GET());
  }

  private static String text(HttpResponse<String> answer, String member) {
    JsonValue.Obj body = (JsonValue.Obj) Jcs.parse(answer.body().getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Str) body.get(member)).value();
  }

  private static String problem(HttpResponse<String> answer) {
    return answer.statusCode() + " " + text(answer, "code");
  }

  /** An agent's key has a code made; no session is opened by it yet. */
  private String code(String who) {
    Caller holder =
        new Caller("access", TestKeys.key(who).verifyingKey().kid(), "acme", who, List.of());
    return sessions.codes().issue(holder, home.clock.instant()).text();
  }

  private HttpResponse<String> signInBy(String code) throws Exception {
    return server.send(
        server
            .to(SESSION)
            .header("Authorization", "Writ-Code " + code)
            .POST(HttpRequest.BodyPublishers.noBody()));
  }

  @Test
  void whateverOpenedThemTheyEndAndThoseOfOthersStay() throws Exception {
    String here = signIn("alice");
    String byKey = cookie(signInBy(code("alice")));
    String unused = code("alice");
    String bob = signIn("bob");
    HttpRequest.Builder end = server.to(ALL).header("Cookie", here).DELETE();
    assertThat(problem(server.send(end))).as("a forged one").isEqualTo("403 GWY-091");
    HttpResponse<String> ended = server.send(end.header("Writ-Csrf", text(session(here), "csrf")));
    assertThat(ended.body()).isEqualTo("{\"ended\":2}");
    assertThat(ended.headers().firstValue("set-cookie").orElseThrow())
        .startsWith("writ-session=; ")
        .contains("Max-Age=0");
    for (String over : List.of(here, byKey)) {
      assertThat(problem(session(over))).isEqualTo("401 GWY-090");
    }
    assertThat(problem(signInBy(unused))).isEqualTo("401 GWY-095");
    assertThat(session(bob).statusCode()).isEqualTo(200);
    assertThat(told).containsExactly(new SignOutSurface.Ended("acme", "alice", "alice", 2));
  }

  @Test
  void whoIsShutOutByTooManyGetsInAgainByTheToken() throws Exception {
    for (int i = 0; i < 16; i++) {
      signIn("alice");
    }
    HttpResponse<String> shut =
        server.send(server.as("alice", SESSION).POST(HttpRequest.BodyPublishers.noBody()));
    assertThat(problem(shut)).isEqualTo("429 GWY-093");
    assertThat(server.send(server.as("alice", ALL).DELETE()).body()).isEqualTo("{\"ended\":16}");
    signIn("alice");
  }

  @Test
  void anOperatorEndsThoseOfSomebodyOfTheTenantAndNobodyElseDoes() throws Exception {
    String alice = signIn("alice");
    Instant now = home.clock.instant();
    sessions.open(new Caller("bearer", "elsewhere", "0", "other", "alice", List.of()), now);
    assertThat(problem(server.send(server.as("bob", ALL + "?subject=alice").DELETE())))
        .isEqualTo("403 GWY-180");
    assertThat(problem(server.send(server.as("bob", ALL + "?subject=").DELETE())))
        .isEqualTo("400 GWY-018");
    assertThat(session(alice).statusCode()).isEqualTo(200);
    assertThat(told).isEmpty();
    home.activate(
        TestPolicy.YAML + "people: [ { tenant: acme, subject: bob, roles: [operator] } ]\n");
    HttpResponse<String> ended = server.send(server.as("bob", ALL + "?subject=alice").DELETE());
    assertThat(ended.body()).isEqualTo("{\"ended\":1}");
    assertThat(ended.headers().firstValue("set-cookie")).isEmpty();
    assertThat(problem(session(alice))).isEqualTo("401 GWY-090");
    assertThat(sessions.size()).as("that of another tenant's alice").isEqualTo(1);
    assertThat(told).containsExactly(new SignOutSurface.Ended("acme", "alice", "bob", 1));
  }

  @Test
  void aStreamOfAnEndedSessionEnds() throws Exception {
    String alice = signIn("alice");
    HttpRequest live = server.to("/v1/effects/live").header("Cookie", alice).GET().build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<Stream<String>> stream = client.send(live, HttpResponse.BodyHandlers.ofLines());
      assertThat(stream.statusCode()).isEqualTo(200);
      server.send(server.as("alice", ALL).DELETE());
      assertThat(stream.body().count()).as("it has an end").isPositive();
    }
  }
}
