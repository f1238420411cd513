package dev.writ.surfaces.logline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.execute.ExecuteSurface;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seed 001 as its clients meet it: headers, signature, replay, both forms of answers. */
class TheLoglineExecutorOverASocketTest {
  private static final String SECRET = "a secret of the tests, long enough";
  private static final String NEXT = "the secret that replaces the first one";
  private static final String EXAMPLE =
      """
      {
        "tool_id": "code_interpreter",
        "input": {
          "language": "python",
          "code": "print('Hello from Railway')"
        },
        "context": {
          "run_id": "run_123",
          "tenant_id": "acme"
        }
      }
      """;

  @TempDir Path dir;
  private SeedServer server;

  private static LoglineConfig.Secret secret(String name, String key) {
    TreeMap<String, String> subjects = new TreeMap<>();
    subjects.put("acme", "alice");
    return new LoglineConfig.Secret(name, bytes(key), subjects);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static LoglineConfig config() {
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    for (String tool : List.of("code_interpreter", "web_browser", "git_cli")) {
      tools.put(
          tool,
          new LoglineConfig.Tool(
              tool,
              "1.0.0",
              tool.equals("git_cli") ? LoglineConfig.Tool.BY_INPUT : "twice",
              new Resources(30_000, 1 << 28, 1 << 20, 30_000),
              "box",
              JsonValue.object().build()));
    }
    return new LoglineConfig(
        List.of(secret("first", SECRET), secret("next", NEXT)),
        tools,
        LoglineConfig.ARTIFACTS_BYTES_DEFAULT);
  }

  private List<Surface> surfaces(Pipeline pipeline) {
    return List.of(new LoglineSurface(pipeline, config()), new ExecuteSurface(pipeline, _ -> {}));
  }

  @BeforeEach
  void start() {
    server = new SeedServer(dir, SeedServer.POLICY, this::surfaces);
    server.home.driver.does(
        "code_interpreter",
        Behaviours.gives(
            "{\"stdout\":\"Hello from Railway\\n\",\"stderr\":\"\",\"return_value\":null}",
            Behaviours.JSON));
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private String now() {
    return String.valueOf(server.home.clock.instant().getEpochSecond());
  }

  private static String sign(String key, String timestamp, String body) {
    return "sha256="
        + HexFormat.of().formatHex(LoglineAuthentication.hmac(bytes(key), timestamp, bytes(body)));
  }

  private Reply send(String tool, String timestamp, String signature, String body) {
    HttpRequest.Builder request = server.to("/execute");
    Optional.ofNullable(tool).ifPresent(v -> request.header("X-LogLine-Tool-Id", v));
    Optional.ofNullable(timestamp).ifPresent(v -> request.header("X-LogLine-Timestamp", v));
    Optional.ofNullable(signature).ifPresent(v -> request.header("X-LogLine-Signature", v));
    return server.send(request.POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private Reply signed(String body) {
    return send("code_interpreter", now(), sign(SECRET, now(), body), body);
  }

  private static void isError(Reply reply, int status, String code) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    assertThat(reply.string("status")).isEqualTo("error");
    assertThat(reply.string("code")).isEqualTo(code);
    JsonValue.Obj result = (JsonValue.Obj) reply.json().get("result");
    assertThat(result.members().keySet()).contains("stdout", "stderr", "duration_ms");
  }

  /** Its caller signs each call anew, and has no other way to come back to what waits. */
  @Test
  void whatWaitsForAnApprovalIsThatCallAndRunsOnceWhenItCameAgain() {
    server.home.activate(
        SeedServer.POLICY.replaceAll(
            "(effect: \\{ tool: code_interpreter \\}), require: \\{[^}]*\\}",
            "$1, require: { approvals: { role: reviewer, count: 1 } }"));
    Reply first = signed(EXAMPLE);
    isError(first, 403, "GRD-104");
    server.home.clock.forward(Duration.ofSeconds(1));
    Reply again = signed(EXAMPLE);
    isError(again, 403, "GRD-104");
    assertThat(requestOf(again)).isEqualTo(requestOf(first));
    isError(signed(EXAMPLE), 409, "GWY-106");
    Digest waiting = Digest.parse(requestOf(first));
    server.home.approve(server.home.kernel().ledger().document(waiting).orElseThrow(), "rita");
    server.home.clock.forward(Duration.ofSeconds(1));
    Reply done = signed(EXAMPLE);
    assertThat(done.status()).as(done.text()).isEqualTo(200);
    assertThat(requestOf(done)).isEqualTo(requestOf(first));
    server.home.clock.forward(Duration.ofSeconds(1));
    Reply next = signed(EXAMPLE);
    isError(next, 403, "GRD-104");
    assertThat(requestOf(next)).isNotEqualTo(requestOf(first));
  }

  private static String requestOf(Reply reply) {
    return reply.response().headers().firstValue("Writ-Request").orElseThrow();
  }

  @Test
  void theSignatureIsWhatAnotherImplementationComputes() {
    // python3: hmac.new(b"key", b"1715000000.{}", hashlib.sha256).hexdigest()
    assertThat(
            HexFormat.of()
                .formatHex(LoglineAuthentication.hmac(bytes("key"), "1715000000", bytes("{}"))))
        .isEqualTo("fd6ab8682632c9df00eea3418f65e1e3ee5f8962e14afb8f760bd9ff3373bbca");
  }

  @Test
  void theSeedsOwnExampleRuns() {
    Reply reply = signed(EXAMPLE);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().members().keySet()).containsExactlyInAnyOrder("status", "result");
    assertThat(reply.string("status")).isEqualTo("success");
    JsonValue.Obj result = (JsonValue.Obj) reply.json().get("result");
    assertThat(result.get("stdout")).isEqualTo(JsonValue.of("Hello from Railway\n"));
    assertThat(result.get("stderr")).isEqualTo(JsonValue.of(""));
    assertThat(result.get("return_value")).isEqualTo(JsonValue.NULL);
    assertThat(result.get("duration_ms")).isInstanceOf(JsonValue.Num.class);
    Request request = onlyRequest();
    assertThat(request.scope().run()).isEqualTo("run_123");
    assertThat(request.scope().subject()).isEqualTo("alice");
    assertThat(request.origin().orElseThrow().principal()).isEqualTo("first");
    assertThat(request.effect().params())
        .isEqualTo(
            Jcs.parse(bytes("{\"code\":\"print('Hello from Railway')\",\"language\":\"python\"}")));
  }

  private Request onlyRequest() {
    List<Request> requests =
        server.home.log().stream()
            .filter(event -> event.kind().equals("request.received"))
            .map(event -> Request.read(server.home.document(event.body()).document()))
            .toList();
    assertThat(requests).hasSize(1);
    return requests.getFirst();
  }

  @Test
  void millisecondsAndUpperCaseHexAreReadToo() {
    String milli = String.valueOf(server.home.clock.instant().toEpochMilli());
    String upper =
        "sha256="
            + sign(SECRET, milli, EXAMPLE).substring("sha256=".length()).toUpperCase(Locale.ROOT);
    assertThat(send("code_interpreter", milli, upper, EXAMPLE).status()).isEqualTo(200);
  }

  @Test
  void theOtherSecretHoldsWhileItReplacesTheFirst() {
    assertThat(send("code_interpreter", now(), sign(NEXT, now(), EXAMPLE), EXAMPLE).status())
        .isEqualTo(200);
    assertThat(onlyRequest().origin().orElseThrow().principal()).isEqualTo("next");
  }

  @Test
  void runIdIsReadInBothForms() {
    String camel = EXAMPLE.replace("\"run_id\": \"run_123\"", "\"runId\": \"run_9\"");
    assertThat(signed(camel).status()).isEqualTo(200);
    assertThat(onlyRequest().scope().run()).isEqualTo("run_9");
    isError(
        signed(EXAMPLE.replace("\"run_id\"", "\"runId\": \"run_9\", \"run_id\"")), 400, "GWY-107");
    isError(signed(EXAMPLE.replace("\"run_id\": \"run_123\",", "")), 400, "GWY-107");
  }

  @Test
  void theInputNamesTheOperationOfAToolThatHasSeveral() {
    String git =
        EXAMPLE
            .replace("code_interpreter", "git_cli")
            .replaceFirst(
                "\"input\": \\{[^}]*}", "\"input\": {\"operation\": \"twice\", \"url\": \"x\"}");
    send("git_cli", now(), sign(SECRET, now(), git), git);
    Request request = onlyRequest();
    assertThat(request.effect().operation()).isEqualTo("twice");
    assertThat(request.effect().params()).isEqualTo(JsonValue.object().put("url", "x").build());
    String none = git.replace("\"twice\"", "7");
    isError(send("git_cli", now(), sign(SECRET, now(), none), none), 400, "GWY-107");
  }

  @Test
  void everySignatureIsTakenOnceAlsoAfterARestart() {
    String timestamp = now();
    String signature = sign(SECRET, timestamp, EXAMPLE);
    assertThat(send("code_interpreter", timestamp, signature, EXAMPLE).status()).isEqualTo(200);
    isError(send("code_interpreter", timestamp, signature, EXAMPLE), 409, "GWY-106");
    server.restart();
    isError(send("code_interpreter", timestamp, signature, EXAMPLE), 409, "GWY-106");
    assertThat(server.home.driver.runs()).hasSize(1);
  }

  /** Whoever shows a wrong signature just then would stop the server for as long otherwise. */
  @Test
  void aStrangerLeavesNoTraceOfAClockThatIsAheadForAMoment() {
    server.home.clock.leap(Duration.ofMinutes(50));
    isError(
        send("code_interpreter", now(), sign("another", now(), EXAMPLE), EXAMPLE), 401, "GWY-105");
    server.home.clock.leap(Duration.ofMinutes(-50));
    assertThat(signed(EXAMPLE).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(longs = {-301, 301})
  void oldAndFutureTimestampsAreRefused(long seconds) {
    String at = String.valueOf(server.home.clock.instant().getEpochSecond() + seconds);
    isError(send("code_interpreter", at, sign(SECRET, at, EXAMPLE), EXAMPLE), 401, "GWY-104");
  }

  @ParameterizedTest
  @ValueSource(longs = {-300, 300})
  void theEndsOfTheWindowAreWithinIt(long seconds) {
    String at = String.valueOf(server.home.clock.instant().getEpochSecond() + seconds);
    assertThat(send("code_interpreter", at, sign(SECRET, at, EXAMPLE), EXAMPLE).status())
        .isEqualTo(200);
  }

  @Test
  void whatIsNotSignedAsItShouldBeIsRefused() {
    String good = sign(SECRET, now(), EXAMPLE);
    isError(
        send("code_interpreter", now(), sign("another secret", now(), EXAMPLE), EXAMPLE),
        401,
        "GWY-105");
    isError(send("code_interpreter", now(), good, EXAMPLE + " "), 401, "GWY-105");
    isError(send("code_interpreter", now() + "000", good, EXAMPLE), 401, "GWY-105");
    isError(send("code_interpreter", now(), good.substring(7), EXAMPLE), 401, "GWY-105");
    isError(send("code_interpreter", now(), "sha256=" + "0".repeat(63), EXAMPLE), 401, "GWY-105");
    isError(send("code_interpreter", "soon", good, EXAMPLE), 401, "GWY-104");
    assertThat(server.home.driver.runs()).isEmpty();
    assertThat(server.decisionCodes()).as("nobody unknown is written down").isEmpty();
  }

  @Test
  void droppingAHeaderOpensNothing() {
    String good = sign(SECRET, now(), EXAMPLE);
    isError(send(null, now(), good, EXAMPLE), 401, "GWY-103");
    isError(send("code_interpreter", null, good, EXAMPLE), 401, "GWY-103");
    isError(send("code_interpreter", now(), null, EXAMPLE), 401, "GWY-103");
    assertThat(send(null, null, null, EXAMPLE).status())
        .as("without any of them it is seed 000's, which wants a token")
        .isEqualTo(401);
    assertThat(server.home.driver.runs()).isEmpty();
  }

  @Test
  void headerAndBodyNameOneTool() {
    isError(send("git_cli", now(), sign(SECRET, now(), EXAMPLE), EXAMPLE), 400, "GWY-108");
  }

  @Test
  void aTenantThatTheSecretDoesNotSpeakForIsRefused() {
    isError(signed(EXAMPLE.replace("acme", "other")), 403, "GWY-109");
    isError(signed(EXAMPLE.replace("acme", "unheard-of")), 403, "GWY-109");
  }

  @Test
  void aToolThatIsNotRegisteredIsDeniedByTheGuardian() {
    for (String tool : List.of("web_browser", "git_cli")) {
      String body =
          EXAMPLE
              .replace("code_interpreter", tool)
              .replace("\"language\":", "\"operation\": \"twice\", \"language\":");
      Reply reply = send(tool, now(), sign(SECRET, now(), body), body);
      assertThat(reply.status()).isEqualTo(403);
      assertThat(reply.string("status")).isEqualTo("error");
    }
    assertThat(server.decisionCodes()).hasSize(2).allMatch(code -> code.startsWith("GRD-"));
  }

  @Test
  void aToolThatTheSurfaceDoesNotHaveIsNotThere() {
    String body = EXAMPLE.replace("code_interpreter", "rocket");
    isError(send("rocket", now(), sign(SECRET, now(), body), body), 404, "GWY-110");
  }

  @Test
  void codeThatFailsIsAnErrorWithBothStreams() {
    server.home.driver.does(
        "code_interpreter",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.FAILED,
                "exit-1",
                "the program ended with 1",
                Optional.of(
                    new DriverOutcome.Output(
                        bytes("{\"stdout\":\"so far\",\"stderr\":\"Traceback\",\"exit_code\":1}"),
                        Behaviours.JSON)),
                List.of(),
                Metrics.NONE,
                JsonValue.object().build()));
    Reply reply = signed(EXAMPLE);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.string("status")).isEqualTo("error");
    JsonValue.Obj result = (JsonValue.Obj) reply.json().get("result");
    assertThat(result.get("stdout")).isEqualTo(JsonValue.of("so far"));
    assertThat(result.get("stderr")).isEqualTo(JsonValue.of("Traceback"));
  }

  @Test
  void bodiesThatAreNoneOfTheSeedsAreRefused() {
    for (String body :
        List.of(
            "",
            "{",
            "[]",
            "{}",
            EXAMPLE.replace("\"input\"", "\"inputs\""),
            EXAMPLE.replace("\"tool_id\"", "\"more\": 1, \"tool_id\""))) {
      isError(signed(body), 400, "GWY-107");
    }
  }

  @Test
  void aServerThatDrainsSaysSoInTheSeedsForm() {
    server.drain();
    Reply reply = signed(EXAMPLE);
    isError(reply, 503, "GWY-027");
    assertThat(reply.response().headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void withoutASecretItDoesNotStart() {
    assertThatThrownBy(() -> new LoglineConfig(List.of(), new TreeMap<>(), 0))
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith("GWY-101");
    assertThatThrownBy(() -> new LoglineConfig(List.of(secret("x", "short")), new TreeMap<>(), 0))
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith("GWY-102")
        .hasMessageNotContaining("short,");
    assertThat(config().toString()).doesNotContain(SECRET).doesNotContain(NEXT);
  }

  @Test
  void aTenantHasItsPlacesHereTooAndIsToldWhenTheyAreTaken() throws Exception {
    server.close();
    server =
        new SeedServer(
            dir.resolve("narrow"),
            SeedServer.POLICY,
            this::surfaces,
            TestGateway.limits(256, 1, 1024, 30_000));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    server.home.driver.does(
        "code_interpreter",
        invocation -> {
          begun.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return Behaviours.gives("{\"stdout\":\"\",\"stderr\":\"\"}", Behaviours.JSON)
              .run(invocation);
        });
    CompletableFuture<Reply> first = CompletableFuture.supplyAsync(() -> signed(EXAMPLE));
    begun.await();
    Reply second = signed(EXAMPLE.replace("run_123", "run_124"));
    isError(second, 429, "GWY-025");
    assertThat(second.response().headers().firstValue("Retry-After")).contains("1");
    release.countDown();
    assertThat(first.get().status()).isEqualTo(200);
    assertThat(signed(EXAMPLE.replace("run_123", "run_125")).status()).isEqualTo(200);
  }
}
