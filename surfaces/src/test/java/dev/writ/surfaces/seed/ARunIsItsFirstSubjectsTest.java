package dev.writ.surfaces.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.NativeApi;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.execute.ExecuteSurface;
import dev.writ.surfaces.logline.LoglineConfig;
import dev.writ.surfaces.logline.LoglineSurface;
import dev.writ.surfaces.seed.SeedServer.Reply;
import dev.writ.surfaces.tools.ToolsSurface;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.bundle.BundleExport;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that a surface vouches for belongs to the subject of its first request (M3). */
class ARunIsItsFirstSubjectsTest {
  /** A trace must be a UUID; every surface takes it as the name of a run. */
  private static final String CASE = "33333333-3333-4333-8333-333333333333";

  private static final String REFUSED = "GRD-721";

  private static final String BOTH =
      SeedServer.POLICY
              .replace(
                  "subject: bob, roles: [worker], surfaces: [engine]",
                  "subject: bob, roles: [developer, worker], surfaces: [engine, execute, logline,"
                      + " tools]")
              .replace("tools: [exec]", "tools: [exec, words]")
          + """
          commands:
            workspace_root: /workspace
            sandbox: box
            output_bytes: 1048576
            roles:
              developer: { commands: [echo], limits: { cpu: 1.0, mem_mb: 512, timeout_sec: 60 }, environment: [] }
            images: {}
            effect: { tool: exec, version: 1.0.0, operation: twice, params: { argv: $argv } }
          execute:
            freshness_s: 300
            sandboxes: { default: box }
            tenants:
              - tenant: acme
                id: "44444444-4444-4444-8444-444444444444"
                workspaces: ["66666666-6666-4666-8666-666666666666"]
                ceiling: default
                subjects:
                  - { subject: alice, id: "55555555-5555-4555-8555-00000000000a" }
                  - { subject: bob, id: "55555555-5555-4555-8555-00000000000b" }
            intents:
              - { id: "22222222-2222-4222-8222-222222222222", version: "1.0", state: open, tenant: acme, targets: [ { program: echo } ], ceiling: default, resources: { cpu: "1", memory: 256Mi, timeout_ms: 60000 }, output_bytes: 1048576, effect: { tool: mail, version: 1.0.0, operation: twice, params: { argv: $argv } } }
          """;

  private static final String SHARED =
      BOTH
          + """
          runs:
            idle_max_s: 3600
            shared_by:
              - { tenant: acme, roles: [developer] }
          """;

  private static final String SECRET_OF = "a secret of sufficient length for ";

  @TempDir Path dir;
  private SeedServer server;
  private final AtomicInteger calls = new AtomicInteger();

  private void start(String policy) {
    server = new SeedServer(dir, policy, ARunIsItsFirstSubjectsTest::surfaces, HttpLimits.DEFAULT);
    for (String tool : List.of("exec", "mail", "words", "code_interpreter")) {
      server.home.driver.does(
          tool,
          Behaviours.gives(
              "{\"exit_code\":0,\"stderr\":\"\",\"stdout\":\"of alice alone\"}", Behaviours.JSON));
    }
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private static List<Surface> surfaces(SeedServer seed, Pipeline pipeline) {
    BundleExport.Packages packages = BundleExport.Packages.of(seed.home.tools);
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    tools.put(
        "code_interpreter",
        new LoglineConfig.Tool(
            "code_interpreter",
            "1.0.0",
            "twice",
            new Resources(30_000, 1 << 28, 1 << 20, 30_000),
            "box",
            JsonValue.object().build()));
    return List.of(
        new ToolsSurface(pipeline, Optional.empty()),
        new ExecuteSurface(pipeline, _ -> {}),
        new LoglineSurface(
            pipeline, new LoglineConfig(List.of(secret("alice"), secret("bob")), tools, 0)),
        new EngineSurface(pipeline, packages::manifest, Lane.DIRECT),
        new NativeApi(seed.backend(), new RunBundle(packages), 2 << 20, 8 << 20));
  }

  private static LoglineConfig.Secret secret(String subject) {
    TreeMap<String, String> subjects = new TreeMap<>();
    subjects.put("acme", subject);
    return new LoglineConfig.Secret(
        subject, (SECRET_OF + subject).getBytes(StandardCharsets.UTF_8), subjects);
  }

  /** One call in the case, each time another one. */
  private Reply call(String surface, String as) {
    return call(surface, as, CASE, calls.incrementAndGet());
  }

  private Reply call(String surface, String as, String run, int n) {
    return switch (surface) {
      case "tools" ->
          server.post(
              as,
              "/v1/tools/exec",
              "{\"role\":\"developer\",\"case_id\":\"%s\",\"cmd\":\"echo %d\",\"timeout_sec\":60,"
                      .formatted(run, n)
                  + "\"limits\":{\"cpu\":1.0,\"mem_mb\":256}}");
      case "engine" ->
          server.post(
              as,
              EngineSurface.PATH,
              "{\"toolId\":\"words\",\"operation\":\"do\",\"requestId\":\"r-%d\",\"correlationId\":\"%s\",\"inputPayload\":{\"text\":\"a\"}}"
                  .formatted(n, run));
      case "execute" -> server.post(as, "/execute", execution(as, run, n));
      case "logline" -> logline(as, run, n);
      default -> throw new IllegalArgumentException(surface);
    };
  }

  private String execution(String as, String run, int n) {
    return """
    {"execution_request_id":"11111111-1111-4111-8111-%012d","execution_request_version":"1.0",
     "intent_ref":{"intent_id":"22222222-2222-4222-8222-222222222222","intent_version":"1.0","trace_id":"%s"},
     "execution_spec":{"executor":"execution","target":"echo %d","parameters":{}},
     "context":{"tenant_id":"44444444-4444-4444-8444-444444444444","subject_id":"55555555-5555-4555-8555-00000000000%s",
      "workspace_id":"66666666-6666-4666-8666-666666666666","trace_id":"%s"},
     "sandbox":{"profile":"default","network":"disabled","filesystem":"ephemeral"},
     "resources":{"cpu":"500m","memory":"128Mi","timeout_ms":30000},
     "artifacts":{"capture_stdout":true,"capture_stderr":true,"output_files":[],"persist":true},
     "audit":{"execution_trace_id":"77777777-7777-4777-8777-%012d","parent_trace_id":"88888888-8888-4888-8888-888888888888",
      "requested_by":"orchestrator","timestamp":"%s"}}
    """
        .formatted(n, run, n, as.substring(0, 1), run, n, server.home.clock.instant());
  }

  private Reply logline(String as, String run, int n) {
    String body =
        "{\"tool_id\":\"code_interpreter\",\"input\":{\"n\":%d},\"context\":{\"run_id\":\"%s\",\"tenant_id\":\"acme\"}}"
            .formatted(n, run);
    String at = String.valueOf(server.home.clock.instant().getEpochSecond());
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec((SECRET_OF + as).getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      String signature =
          HexFormat.of().formatHex(mac.doFinal((at + "." + body).getBytes(StandardCharsets.UTF_8)));
      return server.send(
          server
              .to("/execute")
              .header("X-LogLine-Tool-Id", "code_interpreter")
              .header("X-LogLine-Timestamp", at)
              .header("X-LogLine-Signature", "sha256=" + signature)
              .POST(HttpRequest.BodyPublishers.ofString(body)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String run(String surface) {
    return surface.equals("engine") ? "engine:" + CASE : CASE;
  }

  private List<Request> requestsIn(String run) {
    return server.home.events("acme", run).stream()
        .filter(event -> event.kind().equals("request.received"))
        .map(event -> Request.read(server.home.document(event.body()).document()))
        .toList();
  }

  private void soundWhateverHappened() {
    AuditReport report = server.audit();
    assertThat(report.problems()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tools", "engine", "execute", "logline"})
  void anotherSubjectIsRefusedByASignedDecisionThatIsNotInTheRun(String surface) {
    start(BOTH);
    assertThat(call(surface, "alice").status()).isEqualTo(200);
    int events = server.home.events("acme", run(surface)).size();
    Reply refused = call(surface, "bob");
    assertThat(refused.status()).as(refused.text()).isEqualTo(403);
    assertThat(refused.text()).doesNotContain("alice").doesNotContain("of alice alone");
    if (surface.equals("execute")) {
      assertThat(refused.string("rejection_code")).isEqualTo("R-CTX-004");
    } else {
      assertThat(refused.text()).contains(REFUSED);
    }
    assertThat(server.home.driver.runs()).hasSize(1);
    assertThat(server.home.events("acme", run(surface))).hasSize(events);
    assertThat(requestsIn(run(surface))).allMatch(r -> r.scope().subject().equals("alice"));
    assertThat(server.decisionCodes()).endsWith(REFUSED);
    Decision denial =
        server.home.log().stream()
            .filter(event -> event.kind().equals("decision.made"))
            .map(event -> Decision.read(server.home.document(event.body()).document()))
            .toList()
            .getLast();
    assertThat(new String(Jcs.write(denial.toJson()), StandardCharsets.UTF_8))
        .doesNotContain("alice");
    assertThat(denial.scope().run()).isNotEqualTo(run(surface));
    assertThat(denial.scope().subject()).isEqualTo("bob");
    assertThat(call(surface, "alice").status()).isEqualTo(200);
    soundWhateverHappened();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tools", "engine", "execute", "logline"})
  void itStaysSoAfterARestart(String surface) {
    start(BOTH);
    assertThat(call(surface, "alice").status()).isEqualTo(200);
    server.restart();
    assertThat(call(surface, "bob").status()).isEqualTo(403);
    assertThat(call(surface, "alice").status()).isEqualTo(200);
    assertThat(server.home.driver.runs()).hasSize(2);
    soundWhateverHappened();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tools", "engine", "execute", "logline"})
  void thoseThatPolicyNamesShareIt(String surface) {
    start(SHARED);
    assertThat(call(surface, "alice").status()).isEqualTo(200);
    Reply shared = call(surface, "bob");
    assertThat(shared.status()).as(shared.text()).isEqualTo(200);
    assertThat(requestsIn(run(surface)))
        .extracting(r -> r.scope().subject())
        .containsExactly("alice", "bob");
    String path = "/v1/runs/" + run(surface);
    for (String who : List.of("alice", "bob")) {
      assertThat(server.get(who, path).status()).isEqualTo(200);
      assertThat(server.get(who, path + "/bundle").status()).isEqualTo(200);
    }
    server.home.activate(BOTH); // policy takes it back: who is not its first subject is out
    assertThat(call(surface, "bob").status()).isEqualTo(403);
    assertThat(server.get("bob", path).status()).isEqualTo(404);
    assertThat(server.get("alice", path).status()).isEqualTo(200);
    soundWhateverHappened();
  }

  @Test
  void nothingOfARunIsReadByAnotherSubject() {
    start(BOTH);
    assertThat(call("tools", "alice").status()).isEqualTo(200);
    Digest receipt = lastOf("receipt.signed");
    Digest request = lastOf("request.received");
    String blob = "/v1/blobs/" + output(receipt);
    for (String path :
        List.of(
            "/v1/runs/" + CASE,
            "/v1/runs/" + CASE + "/events",
            "/v1/runs/" + CASE + "/bundle",
            "/v1/requests/" + request,
            "/v1/requests/" + request + "/outcome",
            "/v1/receipts/" + receipt,
            "/v1/receipts/" + receipt + "/output",
            "/v1/receipts/" + receipt + "/proof",
            blob + "?of=" + receipt)) {
      assertThat(server.get("alice", path).status()).as(path).isEqualTo(200);
      assertThat(server.get("deputy", path).status()).as(path).isEqualTo(200);
      Reply foreign = server.get("bob", path);
      Reply unknown = server.get("bob", path.replaceAll("sha256:....|" + CASE, "sha256:0000"));
      assertThat(foreign.status()).as(path).isEqualTo(404);
      assertThat(foreign.text()).doesNotContain("alice");
      assertThat(unknown.status()).isEqualTo(404);
    }
    assertThat(server.get("bob", "/v1/runs").text()).isEqualTo("{\"runs\":[]}");
  }

  private Digest lastOf(String kind) {
    return server.home.log().stream()
        .filter(event -> event.kind().equals(kind))
        .toList()
        .getLast()
        .body();
  }

  private Digest output(Digest receipt) {
    JsonValue.Obj document = (JsonValue.Obj) server.home.document(receipt).document();
    JsonValue.Obj output = (JsonValue.Obj) document.get("output");
    return Digest.parse(((JsonValue.Str) output.get("digest")).value());
  }

  private List<String> streamed(String as) {
    Reply reply = server.get(as, "/v1/streams/" + ToolsSurface.STREAM + "?follow=false");
    assertThat(reply.status()).isEqualTo(200);
    return Arrays.stream(reply.text().split("\n")).filter(l -> l.startsWith("data: ")).toList();
  }

  @Test
  void theStreamTellsEachSubjectWhatItMaySee() {
    start(BOTH);
    assertThat(call("tools", "alice").status()).isEqualTo(200);
    assertThat(streamed("alice")).hasSize(1);
    assertThat(streamed("bob")).isEmpty();
    assertThat(streamed("eve")).isEmpty();
    assertThat(streamed("deputy")).hasSize(1); // in a role of execute_for
    server.home.activate(SHARED);
    assertThat(streamed("bob")).hasSize(1);
    assertThat(streamed("eve")).isEmpty();
  }

  @Test
  void aRunOfAnotherOpenerIsRefusedAlike() {
    start(BOTH);
    server.home.submit(server.home.ask("alice").run(CASE));
    Reply mine = call("tools", "alice"); // her key opened it, and not the surface
    Reply foreign = call("tools", "bob");
    assertThat(mine.status()).isEqualTo(403);
    assertThat(foreign.status()).isEqualTo(403);
    assertThat(foreign.string("detail")).isEqualTo(mine.string("detail"));
    assertThat(foreign.string("code")).isEqualTo(REFUSED);
    soundWhateverHappened();
  }

  /** Both begin in a run that nobody opened yet: one of them is first, and the journal says who. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoIsFirstOwnsItWhateverTheSchedule(boolean shared) throws Exception {
    start(shared ? SHARED : BOTH);
    int rounds = Integer.getInteger("writ.rounds", 12);
    List<String> who = List.of("alice", "bob", "alice", "bob");
    try (ExecutorService threads = Executors.newFixedThreadPool(who.size())) {
      for (int round = 0; round < rounds; round++) {
        String run = "case-" + round;
        CyclicBarrier begin = new CyclicBarrier(who.size());
        List<Future<Integer>> answers = new ArrayList<>();
        for (String as : who) {
          answers.add(
              threads.submit(() -> {
                begin.await();
                return call("tools", as, run, calls.incrementAndGet()).status();
              }));
        }
        int served = 0;
        for (Future<Integer> answer : answers) {
          assertThat(answer.get()).isIn(200, 403);
          served += answer.get() == 200 ? 1 : 0;
        }
        assertThat(served).isEqualTo(shared ? 4 : 2);
        List<String> subjects =
            requestsIn(run).stream().map(r -> r.scope().subject()).distinct().toList();
        assertThat(subjects).hasSize(shared ? 2 : 1);
      }
    }
    soundWhateverHappened();
  }

  @Test
  void anIdOfSeedZeroIsASubjectsOwn() {
    start(BOTH);
    String other = CASE.replace('3', '4');
    assertThat(call("execute", "bob", other, 1).status()).isEqualTo(200);
    assertThat(call("execute", "alice", CASE, 1).status()).isEqualTo(200);
    assertThat(server.home.driver.runs()).hasSize(2);
  }

  @Test
  void theRunOfRefusalsCannotBeNamed() {
    start(BOTH);
    assertThat(call("tools", "alice").status()).isEqualTo(200);
    assertThat(call("tools", "bob").status()).isEqualTo(403);
    String refusals =
        server.home.log().stream()
            .filter(event -> event.kind().equals("run.opened"))
            .toList()
            .getLast()
            .run();
    assertThat(refusals).startsWith("refused:tools:");
    for (String as : List.of("bob", "alice")) {
      Reply named = call("tools", as, refusals, calls.incrementAndGet());
      assertThat(named.string("code")).isEqualTo(REFUSED);
    }
    assertThat(server.home.driver.runs()).hasSize(1);
    assertThat(server.get("bob", "/v1/runs/" + refusals + "/bundle").status()).isEqualTo(200);
    assertThat(server.get("alice", "/v1/runs/" + refusals).status()).isEqualTo(404);
    soundWhateverHappened();
  }
}
