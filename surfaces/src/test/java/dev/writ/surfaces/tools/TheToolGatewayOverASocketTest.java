package dev.writ.surfaces.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Seed 002 as its clients meet it: fields, refusals, the stream. */
class TheToolGatewayOverASocketTest {
  private static final String EXAMPLE =
      """
      {
          "role": "developer",
          "case_id": "case-123",
          "subtask_id": "DEV-123",
          "cmd": "pytest -q",
          "cwd": "/workspace/repo",
          "timeout_sec": 300,
          "env": {"PYTHONUNBUFFERED": "1"},
          "limits": {"cpu": 1.0, "mem_mb": 2048}
      }
      """;
  private static final String SECTION =
      """
      commands:
        workspace_root: /workspace
        sandbox: box
        output_bytes: 8388608
        roles:
          developer:
            commands: [pytest, python, node, npm, go, bash, sh]
            limits: { cpu: 2.0, mem_mb: 4096, timeout_sec: 600 }
            environment: [PYTHONUNBUFFERED]
            paths: [deep, real, repo]
        workspaces: { acme: acme-s, other: other }
        images: { pytest: "python:3.11-bookworm" }
        effect: { tool: exec, version: 1.0.0, operation: twice, params: { argv: $argv, cwd: $cwd, env: $env, image: $image } }
      """;

  /** The test tool's manifest has room for a minute; the seed's example asks for five. */
  private static final String FITTING =
      EXAMPLE.replace("\"timeout_sec\": 300", "\"timeout_sec\": 60").replace("2048", "512");

  @TempDir Path dir;
  @TempDir Path workspaces;
  private SeedServer server;

  private List<Surface> surfaces(Pipeline pipeline) {
    try {
      return List.of(new ToolsSurface(pipeline, Optional.of(new WorkspaceRoot(workspaces))));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void start() {
    server = new SeedServer(dir, SeedServer.POLICY + SECTION, this::surfaces);
    server.home.driver.does("exec", ended(0, "1 passed\n", "", "python:3.11-bookworm"));
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private static TestDriver.Behaviour ended(int code, String stdout, String stderr, String image) {
    var output =
        JsonValue.object().put("exit_code", code).put("stdout", stdout).put("stderr", stderr);
    if (!image.isEmpty()) {
      output.put("image", image);
    }
    byte[] bytes = Jcs.write(output.build());
    return _ ->
        new DriverOutcome(
            DriverOutcome.End.SUCCEEDED,
            "ok",
            "",
            Optional.of(new DriverOutcome.Output(bytes, Behaviours.JSON)),
            List.of(
                new DriverOutcome.Artifact("junit.xml", new byte[] {1}, "application/xml"),
                new DriverOutcome.Artifact("coverage.xml", new byte[] {2}, "application/xml"),
                new DriverOutcome.Artifact("test-results/a.txt", new byte[] {3}, "text/plain"),
                new DriverOutcome.Artifact("notes.txt", new byte[] {4}, "text/plain")),
            Metrics.NONE,
            JsonValue.object().build());
  }

  private Reply exec(String body) {
    return server.post("alice", "/v1/tools/exec", body);
  }

  private void refused(String body, int status, String code) {
    refused(body, status, code, 0);
  }

  private void refused(String body, int status, String code, int runs) {
    Reply reply = exec(body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    assertThat(reply.string("code")).isEqualTo(code);
    assertThat(server.home.driver.runs()).hasSize(runs);
  }

  @Test
  void theSeedsOwnExampleRunsWhereTheToolHasRoomForIt() {
    Reply reply = exec(FITTING);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().members().keySet())
        .containsExactlyInAnyOrder(
            "exec_id",
            "exit_code",
            "image",
            "stdout_tail",
            "stderr_tail",
            "artifacts",
            "logged_to");
    assertThat(reply.string("exec_id")).startsWith("exec-");
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(0));
    assertThat(reply.string("image")).isEqualTo("python:3.11-bookworm");
    assertThat(reply.string("stdout_tail")).isEqualTo("1 passed\n");
    assertThat(reply.string("logged_to")).isEqualTo("swe:tools:exec:stream");
    assertThat(reply.json().get("artifacts"))
        .isEqualTo(
            Jcs.parse(
                ("[{\"path\":\"/artifacts/junit.xml\",\"type\":\"junit_xml\"},"
                        + "{\"path\":\"/artifacts/coverage.xml\",\"type\":\"coverage_xml\"},"
                        + "{\"path\":\"/artifacts/test-results/a.txt\",\"type\":\"test_results\"},"
                        + "{\"path\":\"/artifacts/notes.txt\",\"type\":\"file\"}]")
                    .getBytes(StandardCharsets.UTF_8)));
    assertThat(server.home.driver.runs().getFirst().invocation().params())
        .isEqualTo(
            Jcs.parse(
                ("{\"argv\":[\"pytest\",\"-q\"],\"cwd\":\"repo\","
                     + "\"env\":{\"PYTHONUNBUFFERED\":\"1\"},\"image\":\"python:3.11-bookworm\"}")
                    .getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void theSeedsOwnExampleReachesTheFourChecks() {
    refused(EXAMPLE, 403, "GRD-404"); // the test tool has a minute, policy five
    assertThat(exec(EXAMPLE).text()).contains("Declare at most 60000 wall_ms instead of 300000.");
  }

  @ParameterizedTest
  @CsvSource({
    "'\"timeout_sec\": 60', '\"timeout_sec\": 601', 403, GRD-718",
    "'\"cpu\": 1.0', '\"cpu\": 2.5', 403, GRD-718",
    "'\"mem_mb\": 512', '\"mem_mb\": 5000', 403, GRD-718",
    "'developer', 'devops', 403, GRD-712",
    "'pytest -q', 'kubectl get pods', 403, GRD-714",
    "'/workspace/repo', '/etc', 403, GRD-716",
    "'/workspace/repo', '/workspace/../etc', 403, GRD-716",
    "'PYTHONUNBUFFERED', 'AWS_SECRET_ACCESS_KEY', 403, GRD-717",
    "'\"role\"', '\"rolle\"', 400, GRD-711"
  })
  void eachRefusalHasItsCodeAndNothingRuns(String from, String to, int status, String code) {
    assertThat(FITTING).contains(from);
    refused(FITTING.replace(from, to), status, code);
    if (status == 403) {
      assertThat(server.decisionCodes()).as("the Guardian says it too").containsExactly(code);
    }
  }

  @Test
  void withoutASectionThereAreNoCommands() {
    server.home.activate(SeedServer.POLICY);
    refused(FITTING, 403, "GRD-719");
  }

  @Test
  void twoEqualCallsAreTwoEffects() {
    String first = exec(FITTING).string("exec_id");
    String second = exec(FITTING).string("exec_id");
    assertThat(second).isNotEqualTo(first);
    assertThat(server.home.driver.runs()).hasSize(2);
  }

  private List<Digest> pending() {
    List<Digest> all = new ArrayList<>();
    server
        .home
        .kernel()
        .ledger()
        .scan(
            Tables.PENDING,
            Tables.prefix(TestKeys.TENANT, "case-123"),
            (key, _) -> all.add(Digest.parse("sha256:" + Tables.lastPart(key))));
    return all;
  }

  /** The policy of these tests, under which each command waits for an approver. */
  private static String approved() {
    String free = "{ effect: { tool: exec }, require: { cel: 'true' } }";
    assertThat(SeedServer.POLICY).contains(free);
    return SeedServer.POLICY.replace(
        free, "{ effect: { tool: exec }, require: { approvals: { role: reviewer, count: 1 } } }");
  }

  private void approve(Digest waiting) {
    server.home.approve(server.home.kernel().ledger().document(waiting).orElseThrow(), "rita");
  }

  @Test
  void whatWaitsCanBeApprovedUnderALaterPolicyThatSaysTheSameOfCommands() {
    server.home.activate(approved() + SECTION);
    refused(FITTING, 403, "GRD-104");
    server.home.activate(
        approved().replace("pending_max_s: 86400", "pending_max_s: 86000") + SECTION);
    Digest waiting = pending().getFirst();
    approve(waiting);
    Reply done = exec(FITTING);
    assertThat(done.status()).as(done.text()).isEqualTo(200);
    assertThat(done.string("exec_id")).isEqualTo(ExecEvent.execId(waiting));
  }

  /** The body is not kept, so nobody can say what a later profile makes of it. */
  @Test
  void anApprovalOfWhatCannotBeJudgedNowIsRefusedAndDeniesNothing() {
    server.home.activate(approved() + SECTION);
    refused(FITTING, 403, "GRD-104");
    server.home.activate(approved() + SECTION.replace("timeout_sec: 600", "timeout_sec: 599"));
    Digest waiting = pending().getFirst();
    assertThatThrownBy(() -> approve(waiting))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GRD-701")
        .hasMessageContaining("asked again");
    assertThat(pending()).containsExactly(waiting);
    Answer rejected =
        server.home.reject(server.home.kernel().ledger().document(waiting).orElseThrow(), "rita");
    assertThat(rejected.decision().code()).contains("GRD-105");
    assertThat(pending()).isEmpty();
  }

  @Test
  void whatWaitsForAnApprovalIsThatCallAndRunsOnceWhenItCameAgain() {
    server.home.activate(approved() + SECTION);
    refused(FITTING, 403, "GRD-104");
    refused(FITTING, 403, "GRD-104");
    assertThat(pending()).hasSize(1);
    Digest waiting = pending().getFirst();
    refused(FITTING.replace("pytest -q", "pytest -v"), 403, "GRD-104");
    assertThat(pending()).hasSize(2);
    approve(waiting);
    Reply done = exec(FITTING);
    assertThat(done.status()).as(done.text()).isEqualTo(200);
    assertThat(done.string("exec_id")).isEqualTo(ExecEvent.execId(waiting));
    refused(FITTING, 403, "GRD-104", 1); // the next one is asked for anew
  }

  @Test
  void aStreamThatIsAskedForByASlipOfThePenIsRefused() {
    for (String slip : List.of("no", "False", "", "true&follow=false", "false&folow=true")) {
      Reply reply = server.get("alice", "/v1/streams/swe:tools:exec:stream?follow=" + slip);
      assertThat(reply.string("code")).as(slip).isEqualTo("GWY-018");
    }
  }

  @Test
  void aPlaceThatTheLogDoesNotHaveYetIsRefused() {
    long size = server.home.kernel().ledger().treeSize();
    for (long last : List.of(size - 1, size)) {
      HttpRequest.Builder request =
          server
              .to("/v1/streams/swe:tools:exec:stream?follow=false")
              .header("Authorization", "Bearer token-of-alice")
              .header("Last-Event-ID", Long.toString(last));
      assertThat(server.send(request.GET()).status()).isEqualTo(last < size ? 200 : 400);
    }
  }

  @Test
  void aDenialNamesWhatWasSignedAndSaysWhatItsCodeMeans() {
    Reply waits = exec(FITTING.replace("\"cpu\": 1.0", "\"cpu\": 3.0"));
    assertThat(waits.status()).isEqualTo(403);
    assertNamed(waits);
    server.home.activate(approved() + SECTION);
    Reply escalated = exec(FITTING);
    assertThat(escalated.string("title")).isEqualTo("approvals are missing");
    assertNamed(escalated);
    assertThat(header(exec("{}"), "Writ-Request")).isEmpty();
  }

  private static String header(Reply reply, String name) {
    return reply.response().headers().firstValue(name).orElse("");
  }

  private void assertNamed(Reply denied) {
    Digest decision = Digest.parse(header(denied, "Writ-Decision"));
    assertThat(Decision.read(server.home.document(decision).document()).request())
        .isEqualTo(Digest.parse(header(denied, "Writ-Request")));
  }

  @Test
  void aRefusalHasTheRemedy() {
    assertThat(exec(FITTING.replace("pytest -q", "kubectl")).string("remedy"))
        .isEqualTo("Use a command that the role allows.");
    assertThat(exec("{}").string("remedy")).contains("spec/surface-tools.md");
  }

  @Test
  void aLinkThatLeadsOutOfTheWorkspaceIsRefused() throws IOException {
    Path own = Files.createDirectory(workspaces.resolve("acme-s"));
    Files.createDirectory(workspaces.resolve("other"));
    for (String target : List.of("/etc", "../other", "..", "nowhere")) {
      Files.createSymbolicLink(own.resolve("repo"), Path.of(target));
      refused(FITTING, 403, "GRD-716");
      Files.delete(own.resolve("repo"));
    }
    assertThat(server.decisionCodes()).as("the Guardian says it too").containsOnly("GRD-716");
    Files.createDirectory(own.resolve("real"));
    Files.createSymbolicLink(own.resolve("repo"), Path.of("real"));
    assertThat(exec(FITTING).status()).isEqualTo(200);
  }

  @Test
  void aCredentialThatIsForOtherRolesIsRefusedAndTheGuardianSaysSo() {
    Reply reply = server.post("narrowed", "/v1/tools/exec", FITTING);
    assertThat(reply.status()).as(reply.text()).isEqualTo(403);
    assertThat(reply.string("code")).isEqualTo("GRD-712");
    assertThat(server.decisionCodes()).containsExactly("GRD-712");
    assertThat(server.audit().problems()).isEmpty();
  }

  @Test
  void aRoleWorksInItsDirectoriesAlone() {
    refused(FITTING.replace("/workspace/repo", "/workspace"), 403, "GRD-716");
    refused(FITTING.replace("/workspace/repo", "/workspace/repository"), 403, "GRD-716");
    assertThat(exec(FITTING.replace("/workspace/repo", "/workspace/repo/a")).status())
        .isEqualTo(200);
    assertThat(server.decisionCodes()).containsExactly("GRD-716", "GRD-716", "");
  }

  /** One who shares the policy with others has no directory unless policy says which. */
  @Test
  void aTenantWithoutADirectoryHasNone() {
    server.home.activate(SeedServer.POLICY + SECTION.replace("acme: acme-s, ", ""));
    refused(FITTING, 403, "GRD-716");
    server.home.activate(
        SeedServer.POLICY
            + SECTION.replace("workspaces: { acme: acme-s, other: other }\n", "limits: {}\n"));
    refused(FITTING, 403, "GRD-716");
    assertThat(server.decisionCodes()).containsExactly("GRD-716", "GRD-716");
  }

  /** As a shell says it, in the answer and in the stream. */
  @Test
  void aProgramOrAnImageThatIsNotThereIsExitCode127() {
    byte[] output =
        Jcs.write(
            JsonValue.object()
                .put("exit_code", 127)
                .put("stdout", "")
                .put("stderr", "pytest: not on this host\n")
                .build());
    server.home.driver.does(
        "exec",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.FAILED,
                "command-not-found",
                "pytest: not on this host",
                Optional.of(new DriverOutcome.Output(output, Behaviours.JSON)),
                List.of(),
                Metrics.NONE,
                JsonValue.object().build()));
    Reply reply = exec(FITTING);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(127));
    assertThat(reply.string("stderr_tail")).isEqualTo("pytest: not on this host\n");
    assertThat(stream("alice", "").getFirst().members())
        .containsEntry("event", JsonValue.of("tool_exec"))
        .containsEntry("rc", JsonValue.of("127"));
  }

  /** A program says that it got no answer; the receipt knows which rule refused it. */
  @Test
  void whatTheEgressProxyRefusedIsToldBesideWhatTheProgramSaid() {
    byte[] output =
        Jcs.write(
            JsonValue.object()
                .put("exit_code", 6)
                .put("stdout", "")
                .put("stderr", "no answer")
                .build());
    String refused = "the egress proxy refused api.example.org:443 (not listed)";
    server.home.driver.does(
        "exec",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.FAILED,
                "egress-denied",
                refused,
                Optional.of(new DriverOutcome.Output(output, Behaviours.JSON)),
                List.of(),
                Metrics.NONE,
                JsonValue.object().build()));
    Reply reply = exec(FITTING);
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(6));
    assertThat(reply.string("stderr_tail")).isEqualTo("no answer\n" + refused);
  }

  @Test
  void longOutputIsToldByItsEnd() {
    server.home.driver.does("exec", ended(1, "a".repeat(10_000) + "\uD83D\uDE00end", "bad", ""));
    Reply reply = exec(FITTING);
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(1));
    assertThat(reply.string("stdout_tail")).hasSize(4_000).endsWith("\uD83D\uDE00end");
    assertThat(reply.string("stderr_tail")).isEqualTo("bad");
    assertThat(reply.string("image"))
        .as("no image ran, so none is named")
        .startsWith("exec@sha256:");
    assertThat(ExecEvent.tail("\uD83D\uDE00" + "x".repeat(ExecEvent.TAIL_MAX - 1)))
        .as("never half a character")
        .hasSize(ExecEvent.TAIL_MAX - 1);
  }

  @Test
  void theStreamHasTheSeedsFieldsAndGoesOnWhereAReaderWas() {
    Reply first = exec(FITTING);
    List<JsonValue.Obj> events = stream("alice", "");
    assertThat(events).hasSize(1);
    JsonValue.Obj event = events.getFirst();
    assertThat(event.members().keySet())
        .containsExactlyInAnyOrder(
            "event",
            "exec_id",
            "role",
            "case_id",
            "subtask_id",
            "cmd",
            "image",
            "rc",
            "stdout_tail",
            "stderr_tail",
            "ts",
            "duration_ms",
            "artifacts_count");
    assertThat(event.members().values()).allMatch(JsonValue.Str.class::isInstance);
    assertThat(event.get("event")).isEqualTo(JsonValue.of("tool_exec"));
    assertThat(event.get("exec_id")).isEqualTo(JsonValue.of(first.string("exec_id")));
    assertThat(event.get("role")).isEqualTo(JsonValue.of("developer"));
    assertThat(event.get("case_id")).isEqualTo(JsonValue.of("case-123"));
    assertThat(event.get("subtask_id")).isEqualTo(JsonValue.of("DEV-123"));
    assertThat(event.get("cmd")).isEqualTo(JsonValue.of("pytest -q"));
    assertThat(event.get("rc")).isEqualTo(JsonValue.of("0"));
    assertThat(event.get("stdout_tail")).isEqualTo(JsonValue.of("1 passed\n"));
    assertThat(event.get("artifacts_count")).isEqualTo(JsonValue.of("4"));
    exec(FITTING.replace("case-123", "case-124"));
    String at = lastId;
    assertThat(stream("alice", at)).hasSize(1);
    assertThat(stream("alice", "")).hasSize(2);
    assertThat(stream("eve", "")).as("another tenant's are not there").isEmpty();
  }

  /** The path of an artifact leads to its bytes, for whoever may read the receipt. */
  @Test
  void theAnswersPathsAreFetchedBelowItsLocation() {
    Reply reply = exec(FITTING);
    String location = reply.response().headers().firstValue("Content-Location").orElseThrow();
    assertThat(location).isEqualTo("/v1/tools/exec/" + reply.string("exec_id"));
    assertThat(reply.response().headers().firstValue("Writ-Receipt")).isPresent();
    byte content = 1;
    for (JsonValue item : ((JsonValue.Arr) reply.json().get("artifacts")).items()) {
      String path = ((JsonValue.Str) ((JsonValue.Obj) item).get("path")).value();
      Reply fetched = server.get("alice", location + path);
      assertThat(fetched.status()).as(path).isEqualTo(200);
      assertThat(fetched.body()).containsExactly(content++);
    }
    assertThat(server.get("deputy", location + "/artifacts/junit.xml").status()).isEqualTo(200);
    for (String who : List.of("bob", "eve")) {
      Reply unknown = server.get(who, location + "/artifacts/junit.xml");
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.string("code")).isEqualTo("GWY-040");
    }
    for (String none :
        List.of(
            location + "/artifacts/other",
            location + "/artifacts/../artifacts/junit.xml",
            "/v1/tools/exec/exec-" + "0".repeat(64) + "/artifacts/junit.xml",
            "/v1/tools/exec/exec-1/artifacts/junit.xml")) {
      assertThat(server.get("alice", none).status()).as(none).isEqualTo(404);
    }
  }

  @Test
  void whatAnAuditorReadsOfOthersIsInTheLogWherePolicySaysSo() {
    server.home.activate(
        SeedServer.POLICY
            + SECTION
            + """
            people: [ { tenant: acme, subject: bob, roles: [auditor] } ]
            reads: [ { tenant: acme, what: [outputs] } ]
            """);
    Reply reply = exec(FITTING);
    String artifact = "/v1/tools/exec/" + reply.string("exec_id") + "/artifacts/junit.xml";
    assertThat(server.get("alice", artifact).status()).isEqualTo(200);
    assertThat(stream("alice", "")).hasSize(1);
    assertThat(reads()).as("what is one's own").isEmpty();
    assertThat(server.get("bob", artifact).status()).isEqualTo(200);
    assertThat(reads())
        .singleElement()
        .satisfies(read -> assertThat(read.thing().id()).hasValue(Digest.sha256(new byte[] {1})));
    assertThat(stream("bob", "")).hasSize(1);
    assertThat(reads())
        .hasSize(2)
        .last()
        .satisfies(read -> assertThat(read.thing().id()).as("the run as a whole").isEmpty());
  }

  private List<ReadEvent> reads() {
    return server.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()).stream()
        .map(event -> ReadEvent.read(server.home.document(event.body()).document()))
        .toList();
  }

  /** What was refused is told by its code and its case, never by its content. */
  @ParameterizedTest
  @CsvSource({
    "'pytest -q', 'kubectl get secret-pods', GRD-714, developer",
    "'\"env\": {', '\"env\": {\"AWS_SECRET_ACCESS_KEY\": \"secret-value\", ', GRD-717, developer",
    "'\"role\": \"developer\"', '\"role\": \"secret-role\"', GRD-712, ''",
    "'\"timeout_sec\": 60', '\"timeout_sec\": 300', GRD-404, developer",
  })
  void eachDenialIsAnEntryOfTheStream(String from, String to, String code, String role) {
    assertThat(FITTING).contains(from);
    refused(FITTING.replace(from, to), 403, code);
    List<JsonValue.Obj> entries = stream("alice", "");
    assertThat(entries).hasSize(1);
    JsonValue.Obj denial = entries.getFirst();
    exec(FITTING);
    JsonValue.Obj execution = stream("alice", lastId).getFirst();
    assertThat(denial.members().keySet()).isEqualTo(execution.members().keySet());
    assertThat(denial.members().values()).allMatch(JsonValue.Str.class::isInstance);
    assertThat(denial.members())
        .containsEntry("event", JsonValue.of("tool_denied"))
        .containsEntry("rc", JsonValue.of("126"))
        .containsEntry("stderr_tail", JsonValue.of(code))
        .containsEntry("role", JsonValue.of(role))
        .containsEntry("case_id", JsonValue.of("case-123"))
        .containsEntry("subtask_id", JsonValue.of("DEV-123"))
        .containsEntry("cmd", JsonValue.of(""));
    assertThat(new String(Jcs.write(denial), StandardCharsets.UTF_8)).doesNotContain("secret-");
  }

  /** The rights of spec/gateway.md, "Who may read what": as those to the receipts themselves. */
  @Test
  void theStreamShowsACallerWhatItsReceiptsWouldAndNoMore() {
    exec(FITTING);
    refused(FITTING.replace("pytest -q", "kubectl"), 403, "GRD-714", 1);
    assertThat(stream("alice", "")).as("own").hasSize(2);
    assertThat(stream("bob", "")).as("another subject of the tenant").isEmpty();
    assertThat(stream("deputy", "")).as("its role is in execute_for").hasSize(2);
    assertThat(stream("eve", "")).as("another tenant").isEmpty();
    server.home.activate(
        SeedServer.POLICY
            + SECTION
            + "runs: { idle_max_s: 60, shared_by: [ { tenant: acme, surfaces: [tools],"
            + " runs: case-123, subjects: [alice, bob] } ] }\n");
    assertThat(stream("bob", "")).as("shared by policy").hasSize(2);
    server.home.activate(SeedServer.POLICY + SECTION);
    assertThat(stream("bob", "")).as("a share that was removed").isEmpty();
  }

  @Test
  void metricsHaveTheRoleThatWasAskedForAndNotAllOfTheSubjects() {
    exec(FITTING);
    assertThat(server.metrics.text())
        .contains(
            "writ_effects_total{outcome=\"succeeded\",repeated=\"false\",role=\"developer\",");
  }

  private String lastId = "";

  private List<JsonValue.Obj> stream(String as, String after) {
    HttpRequest.Builder request =
        server
            .to("/v1/streams/swe:tools:exec:stream?follow=false")
            .header("Authorization", "Bearer token-of-" + as);
    if (!after.isEmpty()) {
      request.header("Last-Event-ID", after);
    }
    Reply reply = server.send(request.GET());
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    List<JsonValue.Obj> events = new ArrayList<>();
    for (String line : reply.text().split("\n")) {
      if (line.startsWith("data: ")) {
        events.add(
            (JsonValue.Obj)
                Jcs.parse(line.substring("data: ".length()).getBytes(StandardCharsets.UTF_8)));
      } else if (line.startsWith("id: ")) {
        lastId = line.substring("id: ".length());
      } else if (line.startsWith("event: ")) {
        assertThat(line).isEqualTo("event: swe:tools:exec:stream");
      }
    }
    return events;
  }

  @Test
  void anEffectThatDoesNotFitTheBodyIsRefusedByTheGuardian() {
    exec(FITTING);
    Request request =
        server.home.log().stream()
            .filter(event -> event.kind().equals("request.received"))
            .map(event -> Request.read(server.home.document(event.body()).document()))
            .findFirst()
            .orElseThrow();
    assertThat(request.origin().orElseThrow().surface()).isEqualTo("tools");
    assertThat(server.decisionCodes()).containsExactly("");
  }

  /** The file that ships holds what the seed says, word for word. */
  @Test
  void theShippedRolesAreTheSeeds() throws IOException {
    String text;
    try (InputStream in =
        ToolsSurface.class.getResourceAsStream("/dev/writ/surfaces/seed-roles.yaml")) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    Policy policy =
        Policy.parse(
            text.replace("\"PACKAGE\"", "\"sha256:" + "0".repeat(64) + "\"")
                .getBytes(StandardCharsets.UTF_8),
            "seed-roles.yaml");
    CommandProfile commands = policy.commands().orElseThrow();
    assertThat(commands.roles().keySet())
        .containsExactly("architect", "data", "developer", "devops", "qa");
    assertThat(commands.roles().get("developer").commands())
        .containsExactly("bash", "go", "node", "npm", "pytest", "python", "sh");
    assertThat(commands.roles().get("qa").commands())
        .containsExactly("bash", "k6", "newman", "pytest", "python", "sh");
    assertThat(commands.roles().get("devops").commands())
        .containsExactly("bash", "docker", "helm", "kubectl", "kubeval", "psql", "redis-cli", "sh");
    assertThat(commands.roles().get("architect").commands())
        .containsExactly("bash", "eslint", "flake8", "node", "python", "sh", "trivy");
    assertThat(commands.roles().get("data").commands())
        .containsExactly("bash", "pytest", "python", "sh");
    assertThat(commands.roles().values())
        .extracting(role ->
            role.name() + " " + role.cpuMilli() + " " + role.memMb() + " " + role.timeoutSec())
        .containsExactly(
            "architect 1000 2048 300",
            "data 2000 4096 600",
            "developer 2000 4096 600",
            "devops 1000 2048 300",
            "qa 1500 3072 450");
    assertThat(commands.images()).hasSize(18).containsEntry("trivy", "aquasec/trivy:0.53.0");
    assertThat(commands.roles().values().stream().flatMap(role -> role.commands().stream()))
        .allMatch(command -> commands.image(command).isPresent());
  }

  @Test
  void aWorkspaceRootThatIsNotThereIsNoRoot() {
    assertThatThrownBy(() -> new WorkspaceRoot(workspaces.resolve("gone")))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(
            () -> {
              Files.createSymbolicLink(workspaces.resolve("dangling"), Path.of("gone"));
              new WorkspaceRoot(workspaces).require(".", "dangling");
            })
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith("GRD-716");
  }
}
